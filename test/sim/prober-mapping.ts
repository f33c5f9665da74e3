/** The event source mapping of the prober's queue as deployed (cdk/prober-fleet.ts): one message at a time. */
import {
  DeleteMessageCommand,
  ReceiptHandleIsInvalid,
  SendMessageCommand,
  type SendMessageCommandInput,
  type SQSClient,
} from '@aws-sdk/client-sqs';
import type { SqsEventBatch } from '../../shared/queue/sqs-event.ts';
import type { Scheduler } from './clock.ts';
import type { SimFunction } from './function.ts';
import type { Caller } from './process.ts';
import type { SimQueue, SimReceived } from './queue.ts';

export type ProberAnswer = ReturnType<SqsEventBatch['answer']>;

export type ProberMapping = {
  /** The client of SQS that a container of the function has. */
  clientOf(caller: Caller): Pick<SQSClient, 'send'>;
};

export type ProberMappingOptions = {
  readonly scheduler: Scheduler;
  /** Lambda's own pollers, which no fault strikes. */
  readonly poller: Caller;
  readonly queue: SimQueue;
  readonly prober: SimFunction<ProberAnswer>;
  readonly concurrency: number;
};

const pollMs = 20_000;
const busyMs = 100;

export function proberMapping(options: ProberMappingOptions): ProberMapping {
  const { scheduler, poller, queue, prober, concurrency } = options;
  const held = new Map<string, SimReceived>();
  const receiver = queue.of(poller);
  let messages = 0;

  const sleep = (ms: number) =>
    new Promise<void>((resolve) => {
      scheduler.after(ms, { label: 'mapping waits', deliver: resolve });
    });
  const untilFree = async () => {
    while (!prober.hasFree() && !prober.isBroken()) await sleep(busyMs);
  };

  const handOver = async (received: SimReceived): Promise<void> => {
    messages += 1;
    const messageId = `message-${messages}`;
    held.set(messageId, received);
    await untilFree();
    // Lambda could not start it, and does not give the message back before its time.
    if (!prober.hasFree()) return void held.delete(messageId);
    const { body, group, receiveCount, waitedMs = 0 } = received;
    const attributes = {
      MessageGroupId: group,
      ApproximateReceiveCount: String(receiveCount),
      SentTimestamp: String(scheduler.nowMs() - waitedMs),
      ApproximateFirstReceiveTimestamp: String(scheduler.nowMs()),
    };
    const answer = await prober.invoke({ Records: [{ messageId, receiptHandle: messageId, body, attributes }] });
    const isDone = answer && !answer.batchItemFailures.some(({ itemIdentifier }) => itemIdentifier === messageId);
    if (isDone) await received.acknowledge().catch(() => false);
    held.delete(messageId);
  };

  const lane = async (): Promise<never> => {
    for (;;) {
      await untilFree();
      const received = await receiver.receive(pollMs).catch(() => undefined);
      if (received) await handOver(received);
    }
  };
  for (let number = 0; number < concurrency; number += 1) void lane();

  const sent = async (caller: Caller, { MessageBody: body = '', ...routing }: SendMessageCommandInput) => {
    const { MessageGroupId: group = '', MessageDeduplicationId: deduplicationId = '' } = routing;
    await queue.of(caller).send(JSON.parse(body), { group, deduplicationId });
    return { $metadata: {} };
  };

  const clientOf = (caller: Caller) => ({
    async send(command: { readonly input: object }) {
      if (command instanceof SendMessageCommand) return sent(caller, command.input);
      const { ReceiptHandle: handle, VisibilityTimeout: seconds } = command.input as Handled;
      const received = held.get(handle)?.by(caller);
      const isDone =
        command instanceof DeleteMessageCommand
          ? await received?.acknowledge()
          : await received?.lease.extend(1_000 * Number(seconds));
      if (!isDone) throw new ReceiptHandleIsInvalid({ message: 'simulated', $metadata: {} });
      return { $metadata: {} };
    },
  });
  return { clientOf: (caller) => clientOf(caller) as Pick<SQSClient, 'send'> };
}

type Handled = { readonly ReceiptHandle: string; readonly VisibilityTimeout?: number };
