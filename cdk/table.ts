/** The one table, for targets, results and statuses. The store defines its keys, the deployment how it is kept. */
import { RemovalPolicy } from 'aws-cdk-lib';
import { AttributeType, Billing, TableEncryptionV2, TableV2 } from 'aws-cdk-lib/aws-dynamodb';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import { Construct } from 'constructs';
import { expiryAttribute } from '../shared/store/operation.ts';

export type TargetTableProps = {
  /** Defaults to an AWS owned key. */
  readonly encryptionKey?: IKey;
  /** What `cdk destroy` does with the table. By default the table is retained and protected from deletion. */
  readonly removalPolicy?: RemovalPolicy;
};

/** On demand, with point-in-time recovery and TTL for events. TTL only frees space; correctness never depends on it. */
export class TargetTable extends Construct {
  readonly table: TableV2;

  constructor(scope: Construct, id: string, props: TargetTableProps = {}) {
    super(scope, id);
    const removalPolicy = props.removalPolicy ?? RemovalPolicy.RETAIN;
    this.table = new TableV2(this, 'Resource', {
      partitionKey: { name: 'pk', type: AttributeType.STRING },
      sortKey: { name: 'sk', type: AttributeType.STRING },
      billing: Billing.onDemand(),
      pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
      timeToLiveAttribute: expiryAttribute,
      deletionProtection: removalPolicy === RemovalPolicy.RETAIN,
      removalPolicy,
      ...(props.encryptionKey && { encryption: TableEncryptionV2.customerManagedKey(props.encryptionKey) }),
    });
  }
}
