/** The one table, for targets, results and statuses. The store defines its keys, the deployment how it is kept. */
import { RemovalPolicy } from 'aws-cdk-lib';
import { AttributeType, Billing, TableEncryptionV2, TableV2, type WarmThroughput } from 'aws-cdk-lib/aws-dynamodb';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import { Construct } from 'constructs';
import type { Fleet } from '../shared/cost/fleet.ts';
import { expiryAttribute } from '../shared/store/operation.ts';

export type TargetTableProps = {
  /** Defaults to an AWS owned key. */
  readonly encryptionKey?: IKey;
  /** What `cdk destroy` does with the table. By default the table is retained and protected from deletion. */
  readonly removalPolicy?: RemovalPolicy;
  /** The throughput that the table is prepared for. By default it has that of a new table on demand. */
  readonly fleet?: Fleet;
};

/** Units a second. Source: "Warm throughput" and "On-demand mode" of the DynamoDB Developer Guide. */
const ofNewTable = { reads: 12_000, writes: 4_000 };
/**
 * What a fleet needs that fails as one, or whose holders all load their targets: a verdict is the fence, PROBE, the
 * history and the copy of its latest entry, each of up to two kilobytes in a transaction; a target is some ten
 * kilobytes.
 */
const unitsOfProbe = { reads: 3, writes: 12 };
const withinSeconds = 60;

/** undefined: a new table has enough. */
function warmThroughputOf(fleet: Fleet): WarmThroughput | undefined {
  const probes = fleet.reduce((sum, { targets, probesPerTarget = 1 }) => sum + targets * probesPerTarget, 0);
  const perSecond = (units: number, least: number) => Math.max(least, Math.ceil((probes * units) / withinSeconds));
  const readUnitsPerSecond = perSecond(unitsOfProbe.reads, ofNewTable.reads);
  const writeUnitsPerSecond = perSecond(unitsOfProbe.writes, ofNewTable.writes);
  const isEnough = readUnitsPerSecond === ofNewTable.reads && writeUnitsPerSecond === ofNewTable.writes;
  return isEnough ? undefined : { readUnitsPerSecond, writeUnitsPerSecond };
}

/** On demand, with point-in-time recovery and TTL for events. TTL only frees space; correctness never depends on it. */
export class TargetTable extends Construct {
  readonly table: TableV2;

  constructor(scope: Construct, id: string, props: TargetTableProps = {}) {
    super(scope, id);
    const removalPolicy = props.removalPolicy ?? RemovalPolicy.RETAIN;
    const warmThroughput = warmThroughputOf(props.fleet ?? []);
    this.table = new TableV2(this, 'Resource', {
      partitionKey: { name: 'pk', type: AttributeType.STRING },
      sortKey: { name: 'sk', type: AttributeType.STRING },
      billing: Billing.onDemand(),
      pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
      timeToLiveAttribute: expiryAttribute,
      deletionProtection: removalPolicy === RemovalPolicy.RETAIN,
      removalPolicy,
      ...(warmThroughput && { warmThroughput }),
      ...(props.encryptionKey && { encryption: TableEncryptionV2.customerManagedKey(props.encryptionKey) }),
    });
  }
}
