/** `probelet wait`: until a condition of targets is met, or they are gone. */

import { type Command, InvalidArgumentError, Option } from 'commander';
import type { TargetView } from '../../../shared/api/schema/target-schema.ts';
import { sleep } from '../../../shared/lib/clock.ts';
import type { CommandSetting, Io } from '../io.ts';
import { apiCommand, connectionOf, flagsOf, type Session, withSession } from '../server/connection.ts';
import { CliError, exitCodes } from '../words/exit-codes.ts';
import { milliseconds } from '../words/option-values.ts';
import { noTarget, targetNames } from '../words/resources.ts';

type Goal =
  | { readonly kind: 'condition'; readonly type: string; readonly status: string }
  | { readonly kind: 'deletion' };

type Options = { readonly for: Goal; readonly timeout: number };

/** Kept in step with the checkpoints of the prober, which come every few seconds. */
const pollMs = 500;
const timeoutMsDefault = 30_000;

const examples = `
Examples:
  probelet wait target/checkout --for=condition=Ready --timeout 1m
  probelet wait target/checkout --for=delete`;

export const waitCommand = ({ io }: CommandSetting): Command =>
  apiCommand('wait')
    .description('wait until a condition of targets is met, or until they are gone; exit code 3: not in time')
    .argument('<target...>', 'target/NAME, or target NAME')
    .addOption(
      new Option('--for <what>', 'condition=TYPE, condition=TYPE=STATUS, or delete')
        .argParser(goalOf)
        .makeOptionMandatory(),
    )
    .addOption(
      new Option('--timeout <duration>', 'how long, for all of them together')
        .argParser(milliseconds)
        .default(timeoutMsDefault, `${timeoutMsDefault / 1_000}s`),
    )
    .addHelpText('after', examples)
    .action(async (words: readonly string[], _options: Options, command: Command) => {
      const names = targetNames(words);
      const { for: goal, timeout } = command.opts<Options>();
      const connection = connectionOf(flagsOf(command), io.env);
      await withSession(connection, { io }, async (session) => {
        const endMs = io.clock.monotonicMs() + timeout;
        for (const name of names) {
          const line = await waitFor(io, session, name, goal, endMs);
          if (line === undefined) io.err(await noneToWaitFor(name, session));
          else io.line(line);
        }
      });
    });

function goalOf(text: string): Goal {
  if (text === 'delete' || text === 'deleted') return { kind: 'deletion' };
  const [kind, type = '', status = 'True', ...more] = text.split('=');
  if (kind === 'condition' && type !== '' && status !== '' && more.length === 0)
    return { kind: 'condition', type, status: status.toLowerCase() };
  throw new InvalidArgumentError('must be condition=TYPE, condition=TYPE=STATUS, or delete');
}

/**
 * The line to print; undefined: the deletion is awaited of a target that is not there, which is no error for kubectl.
 *
 * @throws CliError for a condition of a target that is not there, and for what does not happen in time
 */
async function waitFor(
  { clock }: Io,
  session: Session,
  name: string,
  goal: Goal,
  endMs: number,
): Promise<string | undefined> {
  const { client, namespace } = session;
  let uid: string | undefined;
  for (;;) {
    const target = await client.target({ namespace, name });
    const isGone = !target || (uid !== undefined && target.metadata.uid !== uid);
    if (goal.kind === 'deletion' && isGone) return uid === undefined ? undefined : `target/${name} deleted`;
    if (!target) throw noTarget(name, namespace);
    uid ??= target.metadata.uid;
    if (goal.kind === 'condition' && conditionOf(target, goal.type)?.status.toLowerCase() === goal.status)
      return `target/${name} condition met`;
    if (clock.monotonicMs() >= endMs) throw new CliError(lateLine(target, goal), exitCodes.notInTime);
    await sleep(clock, pollMs);
  }
}

/** Nothing was deleted while it was awaited; a wrong namespace is the likely reason. */
async function noneToWaitFor(name: string, { client, namespace }: Session): Promise<string> {
  const line = `There is no target ${name} in namespace ${namespace}: nothing to wait for.`;
  for await (const _ of client.targets({ namespace })) return line;
  return `${line} The namespace has no targets; name another by --namespace.`;
}

const conditionOf = ({ status }: TargetView, type: string) =>
  status.conditions.find((each) => each.type.toLowerCase() === type.toLowerCase());

function lateLine(target: TargetView, goal: Goal): string {
  const { name } = target.metadata;
  if (goal.kind === 'deletion') return `target/${name} is still there at the end of --timeout`;
  const { status = 'absent', reason, message } = conditionOf(target, goal.type) ?? {};
  const why = [reason, message].filter((part) => part !== undefined).join(': ');
  return `target/${name}: ${goal.type} is ${status} at the end of --timeout${why === '' ? '' : ` (${why})`}`;
}
