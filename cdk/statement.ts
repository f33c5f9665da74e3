/** Builds the policy statements of roles, each named after its purpose. */
import type { IEventBus } from 'aws-cdk-lib/aws-events';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import { busActions } from '../functions/rights.ts';
import { eventSource } from '../shared/bus/events.ts';

type Conditions = NonNullable<ConstructorParameters<typeof PolicyStatement>[0]>['conditions'];

export const allow = (
  sid: string,
  actions: readonly string[],
  resources: readonly string[],
  conditions?: Conditions,
): PolicyStatement =>
  new PolicyStatement({
    sid,
    actions: [...actions],
    resources: [...resources],
    ...(conditions && { conditions }),
  });

/** Events of probelet's own, and none that claims another source. */
export const publishOn = ({ eventBusArn }: Pick<IEventBus, 'eventBusArn'>): PolicyStatement =>
  allow('Bus', busActions, [eventBusArn], { StringEquals: { 'events:source': eventSource } });

/** Table, queues and environment variables are encrypted with the key. */
export const useKey = (key: IKey | undefined): readonly PolicyStatement[] =>
  key === undefined
    ? []
    : [
        allow(
          'UseKey',
          [
            'kms:Decrypt',
            'kms:DescribeKey',
            'kms:Encrypt',
            'kms:GenerateDataKey',
            'kms:GenerateDataKeyWithoutPlaintext',
            'kms:ReEncryptFrom',
            'kms:ReEncryptTo',
          ],
          [key.keyArn],
        ),
      ];
