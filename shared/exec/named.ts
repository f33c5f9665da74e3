/**
 * Which runner a command is for. On AWS there is no machine beside the prober, so the first word of a command says where the rest runs:
 * `lambda:NAME` by a function that the deployment has named, `ssm:INSTANCE` on an instance. A command that says neither is for the function
 * named `default`, so that a pod's probe can be registered as it is.
 */
import { goQuote } from '../core/go-text.ts';
import type { ExecOutcome, Runner } from './exec.ts';

export type NamedRunners = {
  /** By name. */
  readonly lambda: ReadonlyMap<string, Runner>;
  /** Of an instance; absent: commands run on none. */
  readonly ssm?: (instanceId: string) => Runner;
};

const defaultName = 'default';
const instance = /^m?i-[0-9a-f]{8,17}$/;

export function namedRunner({ lambda, ssm }: NamedRunners): Runner {
  const runnerOf = (kind: string, name: string): Runner | string => {
    if (kind === 'lambda') return lambda.get(name) ?? `no function named ${goQuote(name)} runs exec probes here`;
    if (ssm === undefined) return 'exec probes on instances are off in this deployment';
    return instance.test(name) ? ssm(name) : `${goQuote(name)} is not the id of an instance`;
  };
  return async (request) => {
    if (lambda.size === 0 && ssm === undefined) return denied('exec probes are off in this deployment');
    const [first = '', ...rest] = request.command;
    const [, kind, name = ''] = /^(lambda|ssm):(.*)$/s.exec(first) ?? [];
    if (kind === undefined) return (lambda.get(defaultName) ?? deny(`no function is named ${defaultName}`))(request);
    if (rest.length === 0) return denied(`nothing to run after ${goQuote(first)}`);
    const runner = runnerOf(kind, name);
    return typeof runner === 'string' ? denied(runner) : runner({ ...request, command: rest });
  };
}

const denied = (message: string): ExecOutcome => ({ kind: 'denied', message });
const deny =
  (message: string): Runner =>
  async () =>
    denied(message);
