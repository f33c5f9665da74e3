/**
 * One of probelet's Lambda functions: a single file bundled by esbuild, a separate role, and a log group with limited
 * retention.
 */

import { Annotations, type Duration, RemovalPolicy, Validations } from 'aws-cdk-lib';
import type { ISecurityGroup, IVpc, SubnetSelection } from 'aws-cdk-lib/aws-ec2';
import { Effect, PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import {
  Architecture,
  type CfnFunction,
  Code,
  Function as LambdaFunction,
  LoggingFormat,
  Runtime,
  Tracing,
} from 'aws-cdk-lib/aws-lambda';
import { LogGroup, type RetentionDays } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import { functionCode } from '#function-code';
import type { FunctionName } from '../functions/bundling.ts';
import { allow } from './statement.ts';

/** Settings that all functions of a deployment share. */
export type FunctionSettings = {
  readonly environment: { readonly [name: string]: string };
  readonly logRetention: RetentionDays;
  readonly encryptionKey?: IKey | undefined;
  readonly tracing: boolean;
};

export type FunctionNetwork = {
  readonly vpc: IVpc;
  readonly vpcSubnets?: SubnetSelection | undefined;
  readonly securityGroups?: readonly ISecurityGroup[] | undefined;
};

type Props = FunctionSettings & {
  readonly name: FunctionName;
  readonly description: string;
  readonly memorySize: number;
  readonly timeout: Duration;
  readonly reservedConcurrency?: number | undefined;
  readonly network?: FunctionNetwork | undefined;
};

export class NodeFunction extends Construct {
  readonly function: LambdaFunction;
  readonly role: Role;
  /** Changes with the code. */
  readonly codeHash: string;

  constructor(scope: Construct, id: string, props: Props) {
    super(scope, id);
    const { name, description, memorySize, timeout, environment, encryptionKey, tracing, network } = props;
    const code = functionCode(this, name);
    this.codeHash = code.assetHash;
    const logGroup = new LogGroup(this, 'Logs', {
      retention: props.logRetention,
      removalPolicy: RemovalPolicy.DESTROY,
      ...(encryptionKey && { encryptionKey }),
    });
    this.role = new Role(this, 'Role', { assumedBy: new ServicePrincipal('lambda.amazonaws.com'), description });
    const statements = [
      allow('WriteLogs', ['logs:CreateLogStream', 'logs:PutLogEvents'], [logGroup.logGroupArn]),
      ...(network ? networkStatements() : []),
    ];
    this.allow(...statements);
    if (network || tracing) Validations.of(this.role).acknowledge(withoutResources);
    this.function = new LambdaFunction(this, 'Function', {
      description,
      runtime: Runtime.NODEJS_24_X,
      architecture: Architecture.ARM_64,
      code: Code.fromBucketV2(code.bucket, code.s3ObjectKey),
      handler: 'index.handler',
      memorySize,
      timeout,
      role: this.role,
      logGroup,
      loggingFormat: LoggingFormat.JSON,
      tracing: tracing ? Tracing.ACTIVE : Tracing.DISABLED,
      environment: { ...environment },
      ...(encryptionKey && { environmentEncryption: encryptionKey }),
      ...(props.reservedConcurrency !== undefined && { reservedConcurrentExecutions: props.reservedConcurrency }),
      ...(network && networkProps(network)),
    });
    Annotations.of(code.bucket).acknowledgeWarning(
      '@aws-cdk/aws-lambda:codeFromBucketObjectVersionNotSpecified',
      'The key is a hash of the code: other code has another key.',
    );
    // Lets `cdk watch` find the function's code.
    code.addResourceMetadata(this.function.node.defaultChild as CfnFunction, 'Code');
  }

  allow(...statements: readonly PolicyStatement[]): void {
    for (const statement of statements) this.role.addToPolicy(statement);
  }
}

const withoutResources = {
  id: 'AwsSolutions-IAM5[Resource::*]',
  reason:
    'Network interfaces of functions and traces: neither EC2 nor X-Ray knows a narrower resource for these actions.',
} as const;

function networkProps({ vpc, vpcSubnets, securityGroups }: FunctionNetwork) {
  return { vpc, ...(vpcSubnets && { vpcSubnets }), ...(securityGroups && { securityGroups: [...securityGroups] }) };
}

/**
 * Lambda creates the function's network interfaces with its role, and EC2 supports no narrower resource. The code
 * itself is denied these actions: `lambda:SourceFunctionArn` is set only on calls from within a function. Source:
 * "Giving Lambda functions access to resources in an Amazon VPC", required permissions.
 */
function networkStatements(): readonly PolicyStatement[] {
  const actions = [
    'ec2:AssignPrivateIpAddresses',
    'ec2:CreateNetworkInterface',
    'ec2:DeleteNetworkInterface',
    'ec2:DescribeNetworkInterfaces',
    'ec2:DescribeSubnets',
    'ec2:UnassignPrivateIpAddresses',
  ];
  return [
    allow('LambdaAttachesToVpc', actions, ['*']),
    new PolicyStatement({
      sid: 'CodeDoesNot',
      effect: Effect.DENY,
      actions,
      resources: ['*'],
      conditions: { Null: { 'lambda:SourceFunctionArn': 'false' } },
    }),
  ];
}
