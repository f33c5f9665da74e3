/** The props of a deployment. Each has a default; nothing is read from context or environment. */
import type { IHttpRouteAuthorizer } from 'aws-cdk-lib/aws-apigatewayv2';
import type { ISecurityGroup, IVpc, SubnetSelection } from 'aws-cdk-lib/aws-ec2';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import type { RetentionDays } from 'aws-cdk-lib/aws-logs';
import type { ITopic } from 'aws-cdk-lib/aws-sns';
import type { SecretHostTexts } from '../functions/secret-variable.ts';
import type { Compute, Fleet } from '../shared/cost/fleet.ts';
import type { TargetTableProps } from './table.ts';

/** The runners for `exec` probes. Without a runner such probes are prober errors. */
export type ExecRunner = {
  /** Functions that a probe may name. */
  readonly functions?: { readonly [name: string]: IFunction };
  /** Instances with this tag, on which probes may run commands by SSM Run Command. */
  readonly instances?: { readonly tagKey: string; readonly tagValue: string };
};

export type ProbeletProps = TargetTableProps & {
  /**
   * The dimension of all metrics, unique for each deployment in a region. Defaults to a name derived from the
   * construct's path.
   */
  readonly stage?: string;
  /**
   * The network from which the prober dials. Defaults to Lambda's network, and for tasks to a network of their own.
   * Both reach public addresses only.
   */
  readonly vpc?: IVpc;
  /** Defaults to the private subnets. */
  readonly vpcSubnets?: SubnetSelection;
  /** The prober's security groups in the VPC. Defaults to one that allows all outbound traffic. */
  readonly securityGroups?: readonly ISecurityGroup[];
  /** Private ranges that may be dialed. Defaults to none. */
  readonly allowCidrs?: readonly string[];
  /** For an emulator, whose functions and targets run on one machine. */
  readonly allowLoopback?: boolean;
  /**
   * `host:port` of endpoints that answer as long as the prober's network works. Defaults to DynamoDB and SQS in the
   * region, which are on the way of all probes only without `vpc`, so with it some must be given.
   */
  readonly canaries?: readonly string[];
  /**
   * Whether HTTPS probes resume the TLS session of the probe before, which takes less CPU. Defaults to false: each
   * probe makes a full handshake, as kubelet's does.
   */
  readonly tlsSessionResumption?: boolean;
  /** Defaults to none, so that exec probes are prober errors. */
  readonly execRunner?: ExecRunner;
  /**
   * The secrets that probe headers may refer to, written as in a header (`ssm:/probelet/…`,
   * `secretsmanager:probelet/…`), each with the hosts to which it may be sent: `host`, `*.host` or an address, with or
   * without a port. Defaults to none.
   */
  readonly secrets?: SecretHostTexts;
  /**
   * Defaults to `auto`: tick for a shard with few targets (`tickTargetsMax`) whose periods are all at least a minute,
   * else resident.
   */
  readonly mode?: 'auto' | 'resident' | 'tick';
  /**
   * What holds the shards. `lambda`: the prober function, as many as needed. `fargate`: tasks of ECS on Fargate Spot,
   * as many as `fleet` needs. `auto`: what the estimate for `fleet` says is cheaper. Defaults to `lambda`. The others
   * need `fleet`, and Docker where the app is deployed.
   */
  readonly compute?: Compute | 'auto';
  /**
   * The prober function's memory in MB, with `compute: 'lambda'` only. More memory means fewer shards. Defaults to what
   * holds `fleet` at the least cost, or to 512 without a fleet.
   */
  readonly memorySize?: number;
  /** Authorizes every route but `/healthz`. Defaults to IAM. */
  readonly authorizer?: IHttpRouteAuthorizer;
  /**
   * Publishes all that the functions count as metrics. By default these are fields of the log, and only what alarms
   * watch becomes a metric.
   */
  readonly detailedMetrics?: boolean;
  /**
   * The schemas of the events in a registry of EventBridge, from which subscribers generate types. Defaults to true;
   * some regions have no registry.
   */
  readonly schemaRegistry?: boolean;
  /** A dashboard. Without `detailedMetrics` it has the metrics of the alarms and those of AWS. Defaults to none. */
  readonly dashboard?: boolean;
  /** Receives every alarm. Without a topic, alarms are only visible in CloudWatch. */
  readonly alarmTopic?: ITopic;
  /** Defaults to one month. */
  readonly logRetention?: RetentionDays;
  /** Reserved concurrency of the prober. Off by default, because small accounts cannot reserve any. */
  readonly reservedConcurrency?: number;
  /** The largest number of concurrent runs. Defaults to what the account allows. */
  readonly maxConcurrency?: number;
  /**
   * The largest number of invocations of status-sync at the same time. Defaults to what takes in the failure of the
   * whole `fleet` within a minute, at least 5.
   */
  readonly statusSyncConcurrency?: number;
  /** Reserved concurrency of the API function. Off by default. */
  readonly apiReservedConcurrency?: number;
  /** The largest number of targets. Defaults to 1,000,000. */
  readonly targetsMax?: number;
  /** The largest number of targets in each namespace. Defaults to `targetsMax`. */
  readonly targetsPerNamespaceMax?: number;
  /**
   * The largest number of HTTP probes per second; other probes count by their cost. Defaults to the capacity of 256
   * shards with this memory, or of the tasks.
   */
  readonly probesPerSecondMax?: number;
  /** Traces with X-Ray. Its actions support no resources, so each role gets a wildcard. */
  readonly tracing?: boolean;
  /**
   * The expected targets, for the cost estimate, the default of `memorySize`, the number of tasks, the throughput for
   * which the table is prepared, and how many statuses are computed at the same time.
   */
  readonly fleet?: Fleet;
  /** US dollars a month. A higher estimate is a warning. */
  readonly budget?: number;
};
