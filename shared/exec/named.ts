/**
 * Selects the runner for a command. On AWS the prober has no machine to run commands on, so the first word says where
 * the rest runs: `lambda:NAME` on a function that the deployment names, `ssm:INSTANCE` on an instance. Any other
 * command goes to the function named `default`, so that a Pod's probe can be registered unchanged.
 */
import { goQuote } from '../core/go/text.ts';
import type { ExecOutcome, ExecRefusal, Runner } from './exec.ts';

export type NamedRunners = {
  /** By name. */
  readonly lambda: ReadonlyMap<string, Runner>;
  /** Returns the runner for an instance. If absent, commands cannot run on instances. */
  readonly ssm?: (instanceId: string) => Runner;
};

/** The available runners. */
export type RunnerNames = { readonly lambda: Pick<ReadonlySet<string>, 'has' | 'size'>; readonly ssm: boolean };

/** Where a command runs and its remaining words, or the reason why it may not run. */
type Place =
  | { readonly kind: 'lambda' | 'ssm'; readonly name: string; readonly command: readonly string[] }
  | { readonly kind: 'none'; readonly why: string };

const defaultName = 'default';
const instance = /^m?i-[0-9a-f]{8,17}$/;

export function namedRunner({ lambda, ssm }: NamedRunners): Runner {
  const names = { lambda, ssm: ssm !== undefined };
  return async (request) => {
    const place = placeOf(request.command, names);
    if (place.kind === 'none') return denied(place.why);
    const runner = place.kind === 'lambda' ? lambda.get(place.name) : ssm?.(place.name);
    return runner ? runner({ ...request, command: place.command }) : denied(off);
  };
}

export const namedRefusal =
  (names: RunnerNames): ExecRefusal =>
  (command) => {
    const place = placeOf(command, names);
    return place.kind === 'none' ? place.why : undefined;
  };

const off = 'exec probes are off in this deployment';
const denied = (message: string): ExecOutcome => ({ kind: 'denied', message });

function placeOf(command: readonly string[], names: RunnerNames): Place {
  const { lambda, ssm } = names;
  if (lambda.size === 0 && !ssm) return nowhere(off);
  const [first = '', ...rest] = command;
  const [, kind, name = ''] = /^(lambda|ssm):(.*)$/s.exec(first) ?? [];
  if (kind === undefined)
    return lambda.has(defaultName)
      ? { kind: 'lambda', name: defaultName, command }
      : nowhere(`no function is named ${defaultName}`);
  if (rest.length === 0) return nowhere(`nothing to run after ${goQuote(first)}`);
  return namedPlace({ kind: kind === 'lambda' ? 'lambda' : 'ssm', name, command: rest }, names);
}

function namedPlace(place: Exclude<Place, { readonly kind: 'none' }>, { lambda, ssm }: RunnerNames): Place {
  const { kind, name } = place;
  if (kind === 'lambda')
    return lambda.has(name) ? place : nowhere(`no function named ${goQuote(name)} runs exec probes here`);
  if (!ssm) return nowhere('exec probes on instances are off in this deployment');
  return instance.test(name) ? place : nowhere(`${goQuote(name)} is not the id of an instance`);
}

const nowhere = (why: string): Place => ({ kind: 'none', why });
