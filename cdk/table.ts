/** The one table, for targets, results and statuses. The store defines its keys, the deployment how it is kept. */
import { isDeepStrictEqual } from 'node:util';
import { RemovalPolicy } from 'aws-cdk-lib';
import { AttributeType, Billing, type ITableV2, TableEncryptionV2, TableV2 } from 'aws-cdk-lib/aws-dynamodb';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import { Construct } from 'constructs';
import type { Fleet } from '../shared/cost/fleet.ts';
import { ofNewTable, throughputOf } from '../shared/cost/sizes.ts';
import { expiryAttribute } from '../shared/store/operation.ts';

export type TargetTableProps = {
  /**
   * A table that exists already, such as one that DynamoDB has restored, in place of one that the stack creates. What
   * protects, expires and encrypts it is not the stack's.
   */
  readonly tableName?: string;
  /** Defaults to an AWS owned key. */
  readonly encryptionKey?: IKey;
  /** What `cdk destroy` does with the table. By default the table is retained and protected from deletion. */
  readonly removalPolicy?: RemovalPolicy;
  /** The throughput that the table is prepared for. By default it has that of a new table on demand. */
  readonly fleet?: Fleet;
};

/** On demand, with point-in-time recovery and TTL for events. TTL only frees space; correctness never depends on it. */
export class TargetTable extends Construct {
  readonly table: ITableV2;

  constructor(scope: Construct, id: string, props: TargetTableProps = {}) {
    super(scope, id);
    const { tableName, fleet, encryptionKey, removalPolicy = RemovalPolicy.RETAIN } = props;
    if (tableName !== undefined) {
      this.table = TableV2.fromTableName(this, 'Resource', tableName);
      return;
    }
    const warmThroughput = throughputOf(fleet ?? []);
    // Their types differ by optional properties that may be undefined.
    this.table = new TableV2(this, 'Resource', {
      partitionKey: { name: 'pk', type: AttributeType.STRING },
      sortKey: { name: 'sk', type: AttributeType.STRING },
      billing: Billing.onDemand(),
      pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
      timeToLiveAttribute: expiryAttribute,
      deletionProtection: removalPolicy === RemovalPolicy.RETAIN,
      removalPolicy,
      ...(!isDeepStrictEqual(warmThroughput, ofNewTable) && { warmThroughput }),
      ...(encryptionKey && { encryption: TableEncryptionV2.customerManagedKey(encryptionKey) }),
    }) as ITableV2;
  }
}
