/**
 * The queue on SQS FIFO, by plain polling. Retries are its own (the client's are off), so that a heartbeat ends in time; a receipt whose
 * answer was lost is asked for again by its attempt id, as else its group would be locked with nobody holding it.
 */
import { type Message, ReceiveMessageCommand, SendMessageCommand } from '@aws-sdk/client-sqs';
import type { QueueReceiver, QueueSender, Received } from './queue.ts';
import { encodeShardMessage } from './shard-message.ts';
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
/** SQS's limit of a long poll. */
const pollMsMax = 20_000;

export const sqsQueue = (options: Options): QueueSender & QueueReceiver => ({
  async send(message, { group, deduplicationId }) {
    const command = new SendMessageCommand({
      QueueUrl: options.queueUrl,
      MessageBody: encodeShardMessage(message),
      MessageGroupId: group,
      MessageDeduplicationId: deduplicationId,
    });
    await callSqs(options, (abortSignal) => options.client.send(command, { abortSignal }), { sendsMax });
  },
  async receive(waitMs, signal) {
    const untilMs = options.clock.monotonicMs() + waitMs;
    for (let leftMs = waitMs; !signal?.aborted; leftMs = untilMs - options.clock.monotonicMs()) {
      const message = await poll(options, Math.min(Math.max(0, leftMs), pollMsMax), signal);
      if (message) return receivedOf(options, message);
      if (leftMs <= pollMsMax) return undefined;
    }
    return undefined;
  },
});

/** One long poll. */
async function poll(options: Options, waitMs: number, signal: AbortSignal | undefined): Promise<Message | undefined> {
  const { client, queueUrl, random, visibilityMs } = options;
  const waitSeconds = secondsOf(waitMs);
  const command = new ReceiveMessageCommand({
    QueueUrl: queueUrl,
    MaxNumberOfMessages: 1,
    WaitTimeSeconds: waitSeconds,
    ReceiveRequestAttemptId: random.uuid(),
    MessageSystemAttributeNames: ['MessageGroupId', 'ApproximateReceiveCount'],
    ...(visibilityMs !== undefined && { VisibilityTimeout: secondsOf(visibilityMs) }),
  });
  const limits = { sendsMax: receivesMax, waitMs: waitSeconds * 1_000, signal };
  try {
    const send = (abortSignal: AbortSignal) => client.send(command, { abortSignal });
    return (await callSqs(options, send, limits)).Messages?.[0];
  } catch (error) {
    // Whoever has stopped does not want to hear that a poll was broken off.
    if (signal?.aborted) return undefined;
    throw error;
  }
}

function receivedOf(options: Options, message: Message): Received {
  const { Body = '', Attributes = {}, ReceiptHandle = '' } = message;
  return {
    body: Body,
    group: Attributes.MessageGroupId ?? '',
    receiveCount: Number(Attributes.ApproximateReceiveCount ?? 1),
    ...heldBy(options, ReceiptHandle),
  };
}
