/** A release that cannot start is refused while it is deployed. */
import { CfnResource, Duration, RemovalPolicy, Stack } from 'aws-cdk-lib';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import { LogGroup, type RetentionDays } from 'aws-cdk-lib/aws-logs';
import { Trigger } from 'aws-cdk-lib/triggers';
import type { NodeFunction } from './node-function.ts';

/** A cold start and one read of the table take a second. */
const startTimeout = Duration.minutes(1);

type Options = {
  readonly before: NodeFunction;
  readonly logRetention: RetentionDays;
  readonly encryptionKey?: IKey | undefined;
};

/** Runs the prober once before the other function is deployed. If it fails, CloudFormation puts the old code back. */
export function startOnce(prober: NodeFunction, { before, ...logs }: Options): void {
  new Trigger(prober, 'Starts', {
    handler: prober.function,
    timeout: startTimeout,
    executeBefore: [before.function],
  });
  addLogs(Stack.of(prober), logs);
}

/** The id of the function behind all triggers of a stack. */
const providerId = 'AWSCDK.TriggerCustomResourceProviderCustomResourceProvider';

/** The CDK names no log group for it, so Lambda would make one that never expires and that stays without its stack. */
function addLogs(stack: Stack, { logRetention, encryptionKey }: Omit<Options, 'before'>): void {
  const provider = stack.node.tryFindChild(providerId);
  const handler = provider?.node.tryFindChild('Handler');
  if (!provider || provider.node.tryFindChild('Logs') || !CfnResource.isCfnResource(handler)) return;
  const { logGroupName } = new LogGroup(provider, 'Logs', {
    retention: logRetention,
    removalPolicy: RemovalPolicy.DESTROY,
    ...(encryptionKey && { encryptionKey }),
  });
  handler.addPropertyOverride('LoggingConfig', { LogGroup: logGroupName });
}
