/** A server that is probed, and the roles of those who use probelet or should not be able to. */
import { App, CfnOutput, Duration, RemovalPolicy, Stack } from 'aws-cdk-lib';
import { AccountRootPrincipal, Effect, PolicyStatement, Role } from 'aws-cdk-lib/aws-iam';
import { Code, FunctionUrlAuthType, Function as Lambda, Runtime } from 'aws-cdk-lib/aws-lambda';
import { LogGroup } from 'aws-cdk-lib/aws-logs';

const app = new App();
const stack = new Stack(app, 'ProbeletShop');
const context = (name: string) => String(app.node.getContext(name));

/** Every path is well but for one. */
const code = `exports.handler = async ({ rawPath }) =>
  rawPath.endsWith('/down') ? { statusCode: 503, body: 'down\\n' } : { statusCode: 200, body: 'here\\n' };`;

const server = new Lambda(stack, 'Function', {
  runtime: Runtime.NODEJS_24_X,
  code: Code.fromInline(code),
  handler: 'index.handler',
  timeout: Duration.seconds(5),
  logGroup: new LogGroup(stack, 'Logs', { removalPolicy: RemovalPolicy.DESTROY }),
});
const url = server.addFunctionUrl({ authType: FunctionUrlAuthType.NONE });

const invoke = (apiId: string, path: string) => ({
  actions: ['execute-api:Invoke'],
  resources: [stack.formatArn({ service: 'execute-api', resource: apiId, resourceName: path })],
});
const publish = {
  actions: ['events:PutEvents'],
  resources: [stack.formatArn({ service: 'events', resource: 'event-bus', resourceName: context('bus') })],
};
const roles = {
  Owner: [invoke(context('apiId'), '*')],
  Neighbour: [invoke(context('neighbourApiId'), '*')],
  Reader: [invoke(context('apiId'), '*/GET/*')],
  Publisher: [publish],
  Stranger: [],
};
for (const [name, allowed] of Object.entries(roles)) {
  const role = new Role(stack, name, { assumedBy: new AccountRootPrincipal() });
  for (const each of allowed) role.addToPolicy(new PolicyStatement({ effect: Effect.ALLOW, ...each }));
  new CfnOutput(stack, `${name}Arn`, { value: role.roleArn });
}
new CfnOutput(stack, 'Url', { value: url.url });
new CfnOutput(stack, 'FunctionName', { value: server.functionName });
