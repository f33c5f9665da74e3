/** What `exec` probes may run: functions that are named at deploy time, and commands on instances with a tag. */
import { Stack } from 'aws-cdk-lib';
import type { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { Construct } from 'constructs';
import type { ExecRunner } from './props.ts';
import { allow } from './statement.ts';

export function execStatements(scope: Construct, runner: ExecRunner | undefined): readonly PolicyStatement[] {
  const { functions = {}, instances } = runner ?? {};
  const arns = Object.values(functions).map(({ functionArn }) => functionArn);
  return [
    ...(arns.length > 0 ? [allow('ExecFunctions', ['lambda:InvokeFunction'], arns)] : []),
    ...(instances ? commandStatements(Stack.of(scope), instances) : []),
  ];
}

/** Instances come and go, so they are named by tag. What a command printed is asked for by its id, which EC2 has no resource for. */
function commandStatements(
  stack: Stack,
  { tagKey, tagValue }: NonNullable<ExecRunner['instances']>,
): readonly PolicyStatement[] {
  const document = stack.formatArn({
    service: 'ssm',
    account: '',
    resource: 'document',
    resourceName: 'AWS-RunShellScript',
  });
  const instances = stack.formatArn({ service: 'ec2', resource: 'instance', resourceName: '*' });
  return [
    allow('ExecDocument', ['ssm:SendCommand'], [document]),
    allow('ExecInstances', ['ssm:SendCommand'], [instances], {
      StringEquals: { [`ssm:resourceTag/${tagKey}`]: tagValue },
    }),
    allow('ExecOutput', ['ssm:CancelCommand', 'ssm:GetCommandInvocation'], ['*']),
  ];
}

/** As the functions read it; see functions/lambda/environment.ts. */
export function execEnvironment(scope: Construct, runner: ExecRunner | undefined): { readonly [name: string]: string } {
  const { functions, instances } = runner ?? {};
  const arns = Object.fromEntries(
    Object.entries(functions ?? {}).map(([name, { functionArn }]) => [name, functionArn]),
  );
  return {
    ...(functions && { PROBELET_EXEC_FUNCTIONS: Stack.of(scope).toJsonString(arns) }),
    ...(instances && { PROBELET_EXEC_SSM: '1' }),
  };
}
