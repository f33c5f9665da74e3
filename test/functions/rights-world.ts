/**
 * A deployment on an emulator whose functions may do what their synthesized roles allow and nothing else: a proxy in
 * front of it knows by the access key which function calls, notes what it asks for, and refuses what its role does not
 * allow.
 */
import { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import { type FunctionName, functionNames } from '../../functions/bundling.ts';
import { type ProxiedCall, type Script, startFaultProxy } from '../support/fault-proxy.ts';
import {
  type Ask,
  account,
  arnOf,
  asksOf,
  askText,
  isAllowed,
  refusal,
  region,
  type Statement,
  signedBy,
} from '../support/iam.ts';
import { resourcesOf, short, synthesized } from '../support/synthesized.ts';
import { type Deployment, secretName } from './deployment.ts';
import { functionThreads } from './function-threads.ts';

/** What of the deployment's statements the tests look at. */
type DeployedStatement = Statement & { readonly Sid?: string };

export type Rights = { readonly [name in FunctionName]: readonly DeployedStatement[] };

const roleIds: { readonly [name in FunctionName]: string } = {
  schedule: 'ProbeletShardScheduleRole',
  prober: 'ProbeletProberFleetProberRole',
  'status-sync': 'ProbeletStatusSyncRole',
  api: 'ProbeletApiRole',
};

/** The names that `deployed` gives, in the place of what a stack would make. */
const physical: { readonly [reference: string]: string } = {
  '{ProbeletTable.Arn}': arnOf.table('targets'),
  '{ProbeletBus.Arn}': arnOf.bus('probes'),
  '{ProbeletShards.Arn}': arnOf.queue('shards.fifo'),
  '{ProbeletStatusSyncQueue.Arn}': arnOf.queue('status-sync'),
  '{AWS::Partition}': 'aws',
  '{AWS::Region}': region,
  '{AWS::AccountId}': account,
};

const secretManagerName = 'probelet/password';

/** The statements of each function's role, of a deployment that runs exec probes and reads secrets. */
export function synthesizedRights(execFunctionArn: string): Rights {
  const template = synthesized((stack) => ({
    execRunner: {
      functions: { default: LambdaFunction.fromFunctionArn(stack, 'Exec', execFunctionArn) },
      instances: { tagKey: 'probelet', tagValue: 'exec' },
    },
    secrets: { [`ssm:${secretName}`]: ['127.0.0.1'], [`secretsmanager:${secretManagerName}`]: ['127.0.0.1'] },
  }));
  const policies = resourcesOf(template, 'AWS::IAM::Policy');
  const statementsOf = (role: string) =>
    policies
      .filter(({ Properties }) => Properties.Roles.some((of: unknown) => short(of) === `{${role}}`))
      .flatMap(({ Properties }) => Properties.PolicyDocument.Statement.map(resolved));
  return {
    schedule: statementsOf(roleIds.schedule),
    prober: statementsOf(roleIds.prober),
    'status-sync': statementsOf(roleIds['status-sync']),
    api: statementsOf(roleIds.api),
  };
}

function resolved({ Resource, ...rest }: DeployedStatement): DeployedStatement {
  return { ...rest, Resource: [Resource].flat().map((resource) => arnText(short(resource))) };
}

const arnText = (text: string): string =>
  Object.entries(physical).reduce((so, [reference, value]) => so.replaceAll(reference, value), text);

const isFunction = (key: string): key is FunctionName => functionNames.some((name) => name === key);

export type Refused = { readonly principal: string; readonly ask: string };

/** Between the functions and the emulator. What is allowed is done as `faults` has it. */
export async function guarded(emulator: { readonly port: number }, rights: () => Rights) {
  const used = new Map<FunctionName, Set<string>>(functionNames.map((name) => [name, new Set()]));
  const refused: Refused[] = [];
  let faults: Script = () => ({ kind: 'pass' });
  const proxy = await startFaultProxy(emulator);
  proxy.play((call) => {
    const { key: principal } = signedBy(call);
    const denied = asksOf(call).find((ask) => !isGranted(rights(), principal, ask));
    if (denied) {
      refused.push({ principal, ask: askText(denied) });
      return { kind: 'answer', answer: refusal(signedBy(call), principal, denied) };
    }
    if (isFunction(principal)) for (const ask of asksOf(call)) used.get(principal)?.add(askText(ask));
    return faults(call);
  });
  return {
    endpoint: proxy.endpoint,
    used: (name: FunctionName): ReadonlySet<string> => used.get(name) ?? new Set(),
    refused,
    calls: proxy.calls,
    inflict(next: Script) {
      faults = next;
    },
    close: proxy.close,
  };
}

const isGranted = (rights: Rights, principal: string, ask: Ask): boolean =>
  isFunction(principal) && isAllowed(rights[principal], ask);

/** Each function of the deployment, its traffic through the proxy. */
export function guardedFunctions({ shardQueueUrl }: Deployment, endpoint: string) {
  const { pathname } = new URL(shardQueueUrl);
  const environment = { ...(process.env as Record<string, string>), AWS_ENDPOINT_URL: endpoint };
  return functionThreads({ ...environment, PROBELET_EXEC_SSM: '1', PROBELET_SHARD_QUEUE_URL: endpoint + pathname });
}

export const isOf = (call: ProxiedCall, principal: FunctionName): boolean => signedBy(call).key === principal;
