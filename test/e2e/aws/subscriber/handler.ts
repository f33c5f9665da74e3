/** The subscriber's function: writes down each event of the bus, and when it came. */
import { SendMessageCommand } from '@aws-sdk/client-sqs';
import { sqsClient } from '../../../../shared/queue/sqs-call.ts';

const client = sqsClient();

export const handler = async (event: unknown): Promise<void> => {
  const MessageBody = JSON.stringify({ receivedAtMs: Date.now(), event });
  await client.send(new SendMessageCommand({ QueueUrl: process.env.INBOX_URL, MessageBody }));
};
