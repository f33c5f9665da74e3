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
    // Without the path of the construct, for scripts that read them.
    for (const each of this.probelet.node.children) if (each instanceof CfnOutput) each.overrideLogicalId(each.node.id);
  }
}
