/** Allows AWS services to use the deployment's key, in this account and for the deployment's purposes only. */
import { Stack } from 'aws-cdk-lib';
import { PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import type { Construct } from 'constructs';

/** The policy of an imported key cannot be changed here; it must contain the same statements. */
export function allowServices(scope: Construct, key: IKey | undefined): void {
  if (key === undefined) return;
  const stack = Stack.of(scope);
  const logGroups = stack.formatArn({ service: 'logs', resource: 'log-group:*' });
  const use = [
    'kms:Decrypt',
    'kms:DescribeKey',
    'kms:Encrypt',
    'kms:GenerateDataKey',
    'kms:ReEncryptFrom',
    'kms:ReEncryptTo',
  ];
  key.addToResourcePolicy(
    new PolicyStatement({
      sid: 'LogsOfThisAccount',
      principals: [new ServicePrincipal(`logs.${stack.region}.${stack.urlSuffix}`)],
      actions: use,
      resources: ['*'],
      conditions: { ArnLike: { 'kms:EncryptionContext:aws:logs:arn': logGroups } },
    }),
  );
  key.addToResourcePolicy(
    new PolicyStatement({
      sid: 'EventsIntoQueuesOfThisAccount',
      principals: [new ServicePrincipal('events.amazonaws.com')],
      actions: ['kms:Decrypt', 'kms:GenerateDataKey'],
      resources: ['*'],
      conditions: { StringEquals: { 'aws:SourceAccount': stack.account } },
    }),
  );
}
