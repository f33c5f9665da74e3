/** The product as a construct: what it keeps and where it tells of changes. Everything is a prop; nothing is read from context or environment. */
import { EventBus } from 'aws-cdk-lib/aws-events';
import { Construct } from 'constructs';
import { TargetTable, type TargetTableProps } from './table.ts';

export type ProbeletProps = TargetTableProps;

export class Probelet extends Construct {
  readonly table: TargetTable['table'];
  readonly bus: EventBus;

  constructor(scope: Construct, id: string, props: ProbeletProps = {}) {
    super(scope, id);
    this.table = new TargetTable(this, 'Table', props).table;
    this.bus = new EventBus(this, 'Bus', { description: 'Changes of probed targets' });
  }
}
