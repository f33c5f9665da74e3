/** Dead-letter queues. Each holds messages that could not be delivered or handled, and has an alarm. */
import { Duration, Stack, Validations } from 'aws-cdk-lib';
import { PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import { Queue, QueueEncryption } from 'aws-cdk-lib/aws-sqs';
import type { Construct } from 'constructs';

/** SQS's limit. */
const retention = Duration.days(14);

export const deadLetterQueue = (scope: Construct, encryptionKey: IKey | undefined): Queue =>
  new Queue(scope, 'DeadLetters', { retentionPeriod: retention, enforceSSL: true, ...encryptionOf(encryptionKey) });

/**
 * The dead-letter queue of a bus with a customer key. The bus delivers the events encrypted, above all when it cannot
 * use that key, so the queue does not use it.
 */
export function busDeadLetters(scope: Construct): Queue {
  const queue = deadLetterQueue(scope, undefined);
  Validations.of(queue).acknowledge({
    id: 'AwsSolutions-SQS3',
    reason: 'It is the dead-letter queue of the bus, which is not a queue.',
  });
  queue.addToResourcePolicy(
    new PolicyStatement({
      sid: 'EventsOfThisAccount',
      principals: [new ServicePrincipal('events.amazonaws.com')],
      actions: ['sqs:SendMessage'],
      resources: [queue.queueArn],
      conditions: { StringEquals: { 'aws:SourceAccount': Stack.of(scope).account } },
    }),
  );
  return queue;
}

export const encryptionOf = (encryptionKey: IKey | undefined) =>
  encryptionKey
    ? { encryption: QueueEncryption.KMS, encryptionMasterKey: encryptionKey }
    : { encryption: QueueEncryption.SQS_MANAGED };
