/** An app of another team: a second probelet for the same account and region, with other props than the first. */
import { App } from 'aws-cdk-lib';
import { ProbeletStack } from '../../../../../cdk/probelet-stack.ts';

const app = new App();
new ProbeletStack(app, 'ProbeletNeighbour', JSON.parse(String(app.node.getContext('props'))));
