/** What a deployment may choose. Everything has a default; nothing is read from context or environment. */
import type { IHttpRouteAuthorizer } from 'aws-cdk-lib/aws-apigatewayv2';
import type { ISecurityGroup, IVpc, SubnetSelection } from 'aws-cdk-lib/aws-ec2';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import type { RetentionDays } from 'aws-cdk-lib/aws-logs';
import type { ITopic } from 'aws-cdk-lib/aws-sns';
import type { SecretHostTexts } from '../functions/secret-variable.ts';
import type { Fleet } from './fleet.ts';
import type { TargetTableProps } from './table.ts';

/** What `exec` probes may use; without it they are prober errors. */
export type ExecRunner = {
  /** Functions that a probe may name. */
  readonly functions?: { readonly [name: string]: IFunction };
  /** SSM Run Command on instances with this tag. */
  readonly instances?: { readonly tagKey: string; readonly tagValue: string };
};

export type ProbeletProps = TargetTableProps & {
  /** Dimension of all metrics, so one for each deployment of a region. Default: made from the construct's path. */
  readonly stage?: string;
  /** Where the prober dials from. Default: Lambda's own network, which reaches public addresses only. */
  readonly vpc?: IVpc;
  /** Default: the private subnets. */
  readonly vpcSubnets?: SubnetSelection;
  /** Of the prober in the VPC. Default: one that may dial anything. */
  readonly securityGroups?: readonly ISecurityGroup[];
  /** Private ranges that may be dialed. Default: none. */
  readonly allowCidrs?: readonly string[];
  /** For an emulator, whose functions and targets are on one machine. */
  readonly allowLoopback?: boolean;
  /** `host:port` that answer while the prober's own network is all right. Default: DynamoDB and SQS of the region. */
  readonly canaries?: readonly string[];
  /** Default: none, and exec probes are prober errors. */
  readonly execRunner?: ExecRunner;
  /**
   * What probe headers may refer to, as they do (`ssm:/probelet/…`, `secretsmanager:probelet/…`), and the hosts that each may be sent to:
   * `host`, `*.host` or an address, with or without a port. Default: nothing.
   */
  readonly secrets?: SecretHostTexts;
  /** Default `auto`: tick for a shard of few targets (`tickTargetsMax`) whose periods are all a minute or more, else resident. */
  readonly mode?: 'auto' | 'resident' | 'tick';
  /** Of the prober, MB. More of it means fewer shards. */
  readonly memorySize?: number;
  /** Of every route but `/healthz`. Default: IAM. */
  readonly authorizer?: IHttpRouteAuthorizer;
  /** Told of every alarm. Default: alarms are only seen. */
  readonly alarmTopic?: ITopic;
  /** Default: one month. */
  readonly logRetention?: RetentionDays;
  /** Of the prober. Off by default: small accounts may not reserve anything. */
  readonly reservedConcurrency?: number;
  /** How many runs there are at most at the same time. Default: as many as the account has room for. */
  readonly maxConcurrency?: number;
  /** Of the function behind the API. Off by default. */
  readonly apiReservedConcurrency?: number;
  /** Targets that may be registered. Default: 1,000,000. */
  readonly targetsMax?: number;
  /** The same of each namespace. Default: as many. */
  readonly targetsPerNamespaceMax?: number;
  /** HTTP probes a second that may be registered; others count by what they cost. Default: what 256 shards of this memory bear. */
  readonly probesPerSecondMax?: number;
  /** Traces with X-Ray, whose actions know no resources: a wildcard in each role. */
  readonly tracing?: boolean;
  /** What is to be probed, for the estimate of its costs. */
  readonly fleet?: Fleet;
  /** US dollars a month above which the estimate is a warning. */
  readonly budget?: number;
};
