/** The policies of a template, one readable line a statement. */
import { nameOf, resourcesOf, short, type TemplateJson } from './synthesized.ts';

type StatementJson = {
  readonly Sid?: string;
  readonly Effect: string;
  readonly Action: string | readonly string[];
  readonly Resource?: unknown;
  readonly Principal?: unknown;
  readonly Condition?: unknown;
};

export type Statements = { readonly [of: string]: readonly string[] };

const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [value]);

const line = ({ Sid, Effect, Action, Resource, Principal, Condition }: StatementJson): string =>
  [
    Sid ?? '-',
    Effect,
    list(Action).join(' '),
    ...(Resource === undefined ? [] : ['on', list(Resource).map(short).join(' ')]),
    ...(Principal === undefined ? [] : ['by', shortDeep(Principal)]),
    ...(Condition === undefined ? [] : ['if', shortDeep(Condition)]),
  ].join(' ');

/** Intrinsics in it are made short, the rest stays JSON. */
function shortDeep(value: unknown): string {
  return JSON.stringify(value, (_, inner: unknown) => (isIntrinsic(inner) ? short(inner) : inner));
}

const isIntrinsic = (value: unknown): boolean =>
  typeof value === 'object' &&
  value !== null &&
  ['Ref', 'Fn::GetAtt', 'Fn::Join'].includes(Object.keys(value)[0] ?? '');

/** What each role may do, but for managed policies: `rolesWithMore` names the roles that have some. */
export function roleStatements(template: TemplateJson): Statements {
  const policies = resourcesOf(template, 'AWS::IAM::Policy').map(({ Properties }) => Properties);
  return Object.fromEntries(
    resourcesOf(template, 'AWS::IAM::Role').map(({ id, Properties }) => {
      const attached = policies.filter(({ Roles }) => Roles.some(({ Ref }: { readonly Ref: string }) => Ref === id));
      const all = [...(Properties.Policies ?? []), ...attached];
      return [nameOf(id), all.flatMap(({ PolicyDocument }) => PolicyDocument.Statement.map(line))];
    }),
  );
}

/** Roles with managed or inline policies of their own, or that others than Lambda may assume. */
export const rolesWithMore = (template: TemplateJson): readonly string[] =>
  resourcesOf(template, 'AWS::IAM::Role').flatMap(({ id, Properties }) => {
    const { ManagedPolicyArns, Policies, AssumeRolePolicyDocument } = Properties;
    const [assume, ...others] = AssumeRolePolicyDocument.Statement.map(line);
    const isPlain = assume === '- Allow sts:AssumeRole by {"Service":"lambda.amazonaws.com"}' && others.length === 0;
    return ManagedPolicyArns || Policies || !isPlain ? [nameOf(id)] : [];
  });

/** What others may do with queues, the bus and functions. */
export function resourceStatements(template: TemplateJson): Statements {
  const queues = resourcesOf(template, 'AWS::SQS::QueuePolicy').map(({ Properties }) => [
    Properties.Queues.map(short).join(' '),
    Properties.PolicyDocument.Statement.map(line),
  ]);
  const buses = resourcesOf(template, 'AWS::Events::EventBusPolicy').map(({ Properties }) => [
    short(Properties.StatementId),
    [line(Properties.Statement)],
  ]);
  const functions = resourcesOf(template, 'AWS::Lambda::Permission').map(({ Properties }) => [
    short(Properties.FunctionName),
    [`${Properties.Action} by ${Properties.Principal} from ${short(Properties.SourceArn)}`],
  ]);
  return Object.fromEntries([...queues, ...buses, ...functions]);
}

/** Statements of roles that name any action or any resource. */
export const wildcards = (template: TemplateJson): readonly string[] =>
  Object.entries(roleStatements(template)).flatMap(([role, statements]) =>
    statements.filter((one) => one.includes('*')).map((one) => `${role}: ${one}`),
  );

/** Routes that do not ask the caller for a credential. */
export const openRoutes = (template: TemplateJson): readonly string[] =>
  resourcesOf(template, 'AWS::ApiGatewayV2::Route').flatMap(({ Properties }) =>
    Properties.AuthorizationType === undefined || Properties.AuthorizationType === 'NONE' ? [Properties.RouteKey] : [],
  );
