/**
 * The prober function as Lambda runs it: one process for one invocation at a time, and its part of the event source
 * mapping. Usage: node function-process.ts BUNDLE. SIGUSR2 is the mapping that is disabled: the present invocation goes
 * on to its end, and the process ends.
 */
import { DeleteMessageCommand, ReceiveMessageCommand } from '@aws-sdk/client-sqs';
import { sqsClient } from '../../../shared/queue/sqs-call.ts';
import { context, recordOf } from '../../functions/invocation.ts';

const { handler }: typeof import('../../../functions/prober/handler.ts') = await import(process.argv[2] ?? '');

const functionMs = 15 * 60_000;
/** The queue's own. */
const visibilitySeconds = 16 * 60;
const QueueUrl = process.env.PROBELET_SHARD_QUEUE_URL;

let isEnabled = true;
process.on('SIGUSR2', () => {
  isEnabled = false;
});
process.stderr.write('the function waits\n');

const client = sqsClient();
while (isEnabled) {
  const { Messages = [] } = await client.send(
    new ReceiveMessageCommand({
      QueueUrl,
      MaxNumberOfMessages: 1,
      VisibilityTimeout: visibilitySeconds,
      WaitTimeSeconds: 1,
      MessageSystemAttributeNames: ['All'],
    }),
  );
  if (Messages.length === 0) continue;
  const { batchItemFailures } = await handler({ Records: Messages.map(recordOf) }, context(functionMs));
  const failed = new Set(batchItemFailures.map(({ itemIdentifier }) => itemIdentifier));
  // The function has deleted these already; a mapping deletes them all the same.
  for (const { MessageId = '', ReceiptHandle } of Messages)
    if (!failed.has(MessageId)) await client.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle }));
}
process.exit(0);
