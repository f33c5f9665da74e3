/**
 * The queue on SQS FIFO, by plain polling. Retries are its own (the client's are off), so that a heartbeat ends in time; a receipt whose
 * answer was lost is asked for again by its attempt id, as else its group would be locked with nobody holding it.
 */
import { type Message, ReceiveMessageCommand, SendMessageCommand } from '@aws-sdk/client-sqs';
import type { QueueReceiver, QueueSender, Received } from './queue.ts';
import { encodeShardMessage } from './shard-message.ts';
import { waitAttributes, waitOf } from './sqs-attributes.ts';
import { callSqs, heldBy, type SqsOptions, secondsOf } from './sqs-call.ts';

type Options = SqsOptions & {
  /**
   * How long a message is invisible after it was received, until its run sets its own lease. Default: the queue's, which has to be as long
   * as a Lambda function may run and so locks the group of a process that crashes at once for as long.
   */
  readonly visibilityMs?: number;
};

const sendsMax = 4;
const receivesMax = 2;
/**
 * SQS goes on with the poll of a process that has died and gives it what comes, which then nobody has until its visibility ends. A message
 * of the run that died with it comes free 10 s later at the earliest (visibility less beat): by then the poll is over. A process that stops
 * waits for its polls, and has 4 s in all.
 */
const pollMsMax = 3_000;

export type SqsQueue = QueueSender &
  QueueReceiver & {
    /** Resolves when no poll is open any more. Who ends before that may take a message along, until its visibility ends. */
    settled(): Promise<void>;
  };

export function sqsQueue(options: Options): SqsQueue {
  /** Polls that nobody waits for any more. */
  const abandoned = new Set<Promise<void>>();

  /** What an abandoned poll still brings is given back at once. */
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
