/** The app of `cdk.json`: one stack with one probelet. */
import { App, Stack } from 'aws-cdk-lib';
import { Probelet } from './probelet.ts';

const app = new App();
new Probelet(
  new Stack(app, 'Probelet', { description: 'Serverless health prober with the semantics of Kubernetes probes' }),
  'Probelet',
);
