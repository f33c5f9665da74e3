/**
 * The queue on SQS FIFO, by polling. The adapter retries instead of the client, so that a heartbeat ends in time. If
 * the answer to a receive is lost, the retry uses the same attempt id; otherwise the message's group would be locked
 * without a holder.
 */
import { type Message, ReceiveMessageCommand, SendMessageCommand } from '@aws-sdk/client-sqs';
import type { QueueReceiver, QueueSender, Received } from './queue.ts';
import { encodeShardMessage } from './shard-message.ts';
import { callSqs, heldBy, type SqsOptions, secondsOf, waitAttributes, waitOf } from './sqs-call.ts';

type Options = SqsOptions & {
  /**
   * How long a message is invisible after it was received, until its run sets a lease. Defaults to the queue's setting,
   * which must cover the longest run of a Lambda function and would therefore lock the group of a crashed process just
   * as long.
   */
  readonly visibilityMs?: number;
};

const sendsMax = 4;
const receivesMax = 2;
/**
 * Polls are short, because SQS continues the poll of a process that has died and may assign it a message, which then
 * stays invisible. A message of the run that died with it becomes visible after 10 s at the earliest (visibility less
 * beat), when the poll is over. A process that stops has 4 s in all to wait for its polls.
 */
export const pollMsMax = 3_000;

export type SqsQueue = QueueSender &
  QueueReceiver & {
    /** Resolves when no poll is open. A process that exits before that may lock a message until its visibility ends. */
    settled(): Promise<void>;
  };

export function sqsQueue(options: Options): SqsQueue {
  /** Polls whose caller no longer waits. */
  const abandoned = new Set<Promise<void>>();

  /** Makes a message that an abandoned poll still receives visible again at once. */
  const abandon = (polling: Promise<Message | undefined>) => {
    const given = polling
      .then((message) => message && receivedOf(options, message).lease.extend(0))
      .then(nothing, nothing)
      .finally(() => abandoned.delete(given));
    abandoned.add(given);
  };

  const pollUnlessAborted = async (waitMs: number, signal: AbortSignal | undefined): Promise<Message | undefined> => {
    const polling = poll(options, waitMs, signal);
    const outcome = await unlessAborted(polling, signal);
    if (outcome === 'aborted') abandon(polling);
    return outcome === 'aborted' ? undefined : outcome;
  };

  return {
    async send(message, { group, deduplicationId }) {
      const command = new SendMessageCommand({
        QueueUrl: options.queueUrl,
        MessageBody: encodeShardMessage(message),
        MessageGroupId: group,
        MessageDeduplicationId: deduplicationId,
      });
      await callSqs(options, (abortSignal) => options.client.send(command, { abortSignal }), {
        request: 'SQS: SendMessage',
        sendsMax,
      });
    },
    async receive(waitMs, signal) {
      const untilMs = options.clock.monotonicMs() + waitMs;
      for (let leftMs = waitMs; !signal?.aborted; leftMs = untilMs - options.clock.monotonicMs()) {
        const message = await pollUnlessAborted(Math.min(Math.max(0, leftMs), pollMsMax), signal);
        if (message) return receivedOf(options, message);
        if (leftMs <= pollMsMax) return undefined;
      }
      return undefined;
    },
    async settled() {
      while (abandoned.size > 0) await Promise.all(abandoned);
    },
  };
}

const nothing = (): void => undefined;

async function unlessAborted<Value>(promise: Promise<Value>, signal?: AbortSignal): Promise<Value | 'aborted'> {
  const { promise: aborted, resolve } = Promise.withResolvers<'aborted'>();
  const abort = () => resolve('aborted');
  signal?.addEventListener('abort', abort);
  try {
    return await Promise.race([promise, aborted]);
  } finally {
    signal?.removeEventListener('abort', abort);
  }
}

/** One long poll. */
async function poll(options: Options, waitMs: number, last: AbortSignal | undefined): Promise<Message | undefined> {
  const { client, queueUrl, random, visibilityMs } = options;
  const waitSeconds = secondsOf(waitMs);
  const command = new ReceiveMessageCommand({
    QueueUrl: queueUrl,
    MaxNumberOfMessages: 1,
    WaitTimeSeconds: waitSeconds,
    ReceiveRequestAttemptId: random.uuid(),
    MessageSystemAttributeNames: ['MessageGroupId', 'ApproximateReceiveCount', ...waitAttributes],
    ...(visibilityMs !== undefined && { VisibilityTimeout: secondsOf(visibilityMs) }),
  });
  const limits = { request: 'SQS: ReceiveMessage', sendsMax: receivesMax, waitMs: waitSeconds * 1_000, last };
  const send = (abortSignal: AbortSignal) => client.send(command, { abortSignal });
  return (await callSqs(options, send, limits)).Messages?.[0];
}

function receivedOf(options: Options, message: Message): Received {
  const { Body = '', Attributes = {}, ReceiptHandle = '' } = message;
  return {
    body: Body,
    group: Attributes.MessageGroupId ?? '',
    receiveCount: Number(Attributes.ApproximateReceiveCount ?? 1),
    ...waitOf(Attributes),
    ...heldBy(options, ReceiptHandle),
  };
}
