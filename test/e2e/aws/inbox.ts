/** What the subscriber's function has written down. */
import { DeleteMessageBatchCommand, ReceiveMessageCommand, type SQSClient } from '@aws-sdk/client-sqs';
import type { WorldEvent } from '../world.ts';

/** When the subscriber was called, and with what. */
export type Received = { readonly receivedAtMs: number; readonly event: WorldEvent };

export type Inbox = {
  /** In the order in which they were read. */
  readonly received: readonly Received[];
  stop(): Promise<void>;
};

const waitSeconds = 1;

export function readInbox(client: SQSClient, QueueUrl: string): Inbox {
  const received: Received[] = [];
  const over = new AbortController();
  const read = async () => {
    const asked = { QueueUrl, MaxNumberOfMessages: 10, WaitTimeSeconds: waitSeconds };
    const { Messages = [] } = await client.send(new ReceiveMessageCommand(asked), { abortSignal: over.signal });
    for (const { Body } of Messages) received.push(JSON.parse(Body ?? ''));
    if (Messages.length === 0) return;
    const Entries = Messages.map(({ ReceiptHandle }, index) => ({ Id: `${index}`, ReceiptHandle }));
    await client.send(new DeleteMessageBatchCommand({ QueueUrl, Entries }));
  };
  const keep = async () => {
    while (!over.signal.aborted) await read();
  };
  const reading = keep().catch((error: unknown) => {
    if (!over.signal.aborted) process.stderr.write(`the inbox cannot be read: ${String(error)}\n`);
  });
  return {
    received,
    async stop() {
      over.abort();
      await reading;
    },
  };
}
