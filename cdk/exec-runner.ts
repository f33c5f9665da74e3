/** Grants what `exec` probes may run: functions named at deploy time, and commands on instances with a tag. */
import { Stack, Validations } from 'aws-cdk-lib';
import { type IRole, Policy, type PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { Construct } from 'constructs';
import type { ExecRunner } from './props.ts';
import { allow } from './statement.ts';

/** Uses a separate policy, so that the exception from cdk-nag covers no other statement of the role. */
export function grantExec(scope: Construct, role: IRole, runner: ExecRunner | undefined): void {
  if (!runner) return;
  const policy = new Policy(scope, 'ExecPolicy', { roles: [role], statements: [...execStatements(scope, runner)] });
  if (runner.instances)
    for (const resource of ['*', ...instanceArns(Stack.of(scope))])
      Validations.of(policy).acknowledge({
        id: `AwsSolutions-IAM5[Resource::${written(Stack.of(scope), resource)}]`,
        reason:
          'Instances come and go, so they are named by a tag, which a condition asks for; the output of a command is asked for by its id, which no resource stands for.',
      });
}

/** EC2 instances, and other machines that Systems Manager manages. */
const instanceArns = (stack: Stack): readonly string[] => [
  stack.formatArn({ service: 'ec2', resource: 'instance', resourceName: '*' }),
  stack.formatArn({ service: 'ssm', resource: 'managed-instance', resourceName: '*' }),
];

/** Formats an ARN that is unknown until deployment in the way that cdk-nag does. */
function written(stack: Stack, arn: string): string {
  const resolved: string | { readonly 'Fn::Join': readonly [string, readonly (string | { readonly Ref: string })[]] } =
    stack.resolve(arn);
  if (typeof resolved === 'string') return resolved;
  return resolved['Fn::Join'][1].map((part) => (typeof part === 'string' ? part : `<${part.Ref}>`)).join('');
}

function execStatements(scope: Construct, runner: ExecRunner): readonly PolicyStatement[] {
  const { functions = {}, instances } = runner;
  const arns = Object.values(functions).map(({ functionArn }) => functionArn);
  return [
    ...(arns.length > 0 ? [allow('ExecFunctions', ['lambda:InvokeFunction'], arns)] : []),
    ...(instances ? commandStatements(Stack.of(scope), instances) : []),
  ];
}

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
  return [
    allow('ExecDocument', ['ssm:SendCommand'], [document]),
    allow('ExecInstances', ['ssm:SendCommand'], instanceArns(stack), {
      StringEquals: { [`ssm:resourceTag/${tagKey}`]: tagValue },
    }),
    allow('ExecOutput', ['ssm:CancelCommand', 'ssm:GetCommandInvocation'], ['*']),
  ];
}

/** The allowed runners by name only, for a function that does not call them. */
export const execNames = ({ functions, instances }: ExecRunner = {}): { readonly [name: string]: string } => ({
  ...(functions && { PROBELET_EXEC_NAMES: Object.keys(functions).join(',') }),
  ...(instances && { PROBELET_EXEC_SSM: '1' }),
});

/** The format is defined in functions/lambda/environment.ts. */
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
