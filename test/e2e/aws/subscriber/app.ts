/** Another app: a stack that knows only the name of probelet's bus. */
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { App, CfnOutput, Duration, RemovalPolicy, Stack } from 'aws-cdk-lib';
import { EventBus, type EventPattern, Match, Rule } from 'aws-cdk-lib/aws-events';
import { LambdaFunction } from 'aws-cdk-lib/aws-events-targets';
import { Code, Function as Lambda, Runtime } from 'aws-cdk-lib/aws-lambda';
import { LogGroup } from 'aws-cdk-lib/aws-logs';
import { Queue } from 'aws-cdk-lib/aws-sqs';
import { buildSync } from 'esbuild';
import { bundling } from '../../../../functions/bundling.ts';

const app = new App();
const stack = new Stack(app, 'Subscriber');
const eventBus = EventBus.fromEventBusName(stack, 'Bus', String(app.node.getContext('bus')));
const inbox = new Queue(stack, 'Inbox');
const subscriber = new Lambda(stack, 'Function', {
  runtime: Runtime.NODEJS_24_X,
  code: Code.fromAsset(bundled()),
  handler: 'index.handler',
  timeout: Duration.seconds(30),
  memorySize: 256,
  logGroup: new LogGroup(stack, 'Logs', { removalPolicy: RemovalPolicy.DESTROY }),
  environment: { INBOX_URL: inbox.queueUrl },
});
inbox.grantSendMessages(subscriber);

const changes = ['Probe Result Changed', 'Target Status Changed'];
const targets = [new LambdaFunction(subscriber)];
const rule = (id: string, eventPattern: EventPattern) => new Rule(stack, id, { eventBus, eventPattern, targets });
rule('Changes', { source: ['probelet'], detailType: changes });
rule('Others', { source: ['probelet'], detailType: Match.anythingBut(...changes) });
new CfnOutput(stack, 'InboxUrl', { value: inbox.queueUrl });

function bundled(): string {
  const folder = mkdtempSync(join(tmpdir(), 'probelet-subscriber-'));
  const { banner, ...options } = bundling;
  const entryPoints = [join(import.meta.dirname, 'handler.ts')];
  buildSync({ ...options, banner: { js: banner }, entryPoints, outfile: join(folder, 'index.mjs'), logLevel: 'error' });
  return folder;
}
