/** A stack with one probelet and the outputs that its users need. */
import { CfnOutput, Stack, type StackProps } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import { Probelet } from './probelet.ts';
import type { ProbeletProps } from './props.ts';

export class ProbeletStack extends Stack {
  readonly probelet: Probelet;

  constructor(scope: Construct, id: string, props: ProbeletProps = {}, stackProps: StackProps = {}) {
    super(scope, id, {
      description: 'Serverless health prober with the semantics of Kubernetes probes',
      ...stackProps,
    });
    this.probelet = new Probelet(this, 'Probelet', props);
    const { apiUrl, bus, table } = this.probelet;
    new CfnOutput(this, 'ApiUrl', { value: apiUrl, description: 'Where targets are registered' });
    new CfnOutput(this, 'BusName', { value: bus.eventBusName, description: 'Bus on which changes are published' });
    new CfnOutput(this, 'TableName', { value: table.tableName, description: 'What is kept' });
  }
}
