/**
 * The emulator enforces no rights. A proxy in front of the services evaluates the deployed roles of the functions: it
 * identifies the calling function by its access key, and refuses what its role does not allow as AWS does.
 */
import { type Answer, type FaultProxy, type ProxiedCall, startFaultProxy } from '../../support/fault-proxy.ts';
import { asksOf, askText, isAllowed, refusal, type Statement, signedBy } from '../../support/iam.ts';
import { iamOf, type Send } from './requests.ts';

/** The statements of each function's role, by the function's name. */
export type Rights = ReadonlyMap<string, readonly Statement[]>;

export type Guard = Pick<FaultProxy, 'endpoint' | 'close'> & {
  /** Until then everything is allowed: roles are there once they are deployed. */
  enforce(rights: Rights): void;
  readonly refused: readonly string[];
};

/** `edit`: what becomes of the emulator's answer to an allowed call. */
export async function guardFunctions(
  emulator: { readonly port: number },
  edit: (call: ProxiedCall, answer: Answer) => Answer,
): Promise<Guard> {
  let rights: Rights | undefined;
  const refused: string[] = [];
  const { play, endpoint, close } = await startFaultProxy(emulator);
  play((call) => {
    if (stackAnswer.test(call.path)) return { kind: 'pass' };
    const { key } = signedBy(call);
    const denied = rights && asksOf(call).find((ask) => !isAllowed(rights?.get(key) ?? [], ask));
    if (!denied) return { kind: 'edit', edit: (answer) => edit(call, answer) };
    refused.push(`${key}: ${askText(denied)}`);
    return { kind: 'answer', answer: refusal(signedBy(call), key, denied) };
  });
  return {
    endpoint,
    close,
    refused,
    enforce(deployed) {
      rights = deployed;
    },
  };
}

/** Where the function of a custom resource answers CloudFormation: on AWS an address that is signed already. */
const stackAnswer = /^\/_ministack\/cfn-response\//;

type DeployedFunction = { readonly FunctionName: string; readonly Role: string };

export async function deployedRights(send: Send, endpoint: string): Promise<Rights> {
  const { text } = await send({ service: 'lambda', method: 'GET', url: `${endpoint}/2015-03-31/functions` });
  const functions: readonly DeployedFunction[] = JSON.parse(text).Functions;
  const entries = functions.map(async ({ FunctionName, Role }) => {
    const role = Role.split('/').at(-1) ?? '';
    return [FunctionName, await roleStatements(send, endpoint, role)] as const;
  });
  return new Map(await Promise.all(entries));
}

async function roleStatements(send: Send, endpoint: string, RoleName: string): Promise<readonly Statement[]> {
  const iam = iamOf(send, endpoint);
  const names = [...(await iam({ Action: 'ListRolePolicies', RoleName })).matchAll(/<member>([^<]+)<\/member>/g)];
  const documents = names.map(async ([, PolicyName = '']) => {
    const policy = await iam({ Action: 'GetRolePolicy', RoleName, PolicyName });
    const [, document = ''] = /<PolicyDocument>([^<]+)</.exec(policy) ?? [];
    return JSON.parse(decodeURIComponent(document)).Statement as readonly Statement[];
  });
  return (await Promise.all(documents)).flat();
}
