/** Where what could not be delivered or done waits for a person; an alarm looks at each. */
import { Duration } from 'aws-cdk-lib';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import { Queue, QueueEncryption } from 'aws-cdk-lib/aws-sqs';
import type { Construct } from 'constructs';

/** SQS's limit. */
const retention = Duration.days(14);

export const deadLetterQueue = (scope: Construct, encryptionKey: IKey | undefined): Queue =>
  new Queue(scope, 'DeadLetters', { retentionPeriod: retention, enforceSSL: true, ...encryptionOf(encryptionKey) });

export const encryptionOf = (encryptionKey: IKey | undefined) =>
  encryptionKey
    ? { encryption: QueueEncryption.KMS, encryptionMasterKey: encryptionKey }
    : { encryption: QueueEncryption.SQS_MANAGED };
