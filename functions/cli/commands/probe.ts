/** `probelet probe`: probes a target now, and waits for what each probe finds. Exit code 1: one did not succeed. */

import { type Command, Option } from 'commander';
import type { EventView } from '../../../shared/api/routes/events.ts';
import { sleep } from '../../../shared/lib/clock.ts';
import type { NamedTarget } from '../../client/answers.ts';
import type { RequestedProbes } from '../../client/api-client.ts';
import type { CommandSetting } from '../io.ts';
import { attemptLines } from '../printing/probe-text.ts';
import { probeHead, probeRows } from '../printing/rows.ts';
import { tableText } from '../printing/tables.ts';
import { apiCommand, connectionOf, flagsOf, type Session, withSession } from '../server/connection.ts';
import { CliError, exitCodes } from '../words/exit-codes.ts';
import { milliseconds } from '../words/option-values.ts';
import { noTarget, targetNames } from '../words/resources.ts';

type Options = { readonly timeout: number };

const pollMs = 500;
const timeoutMsDefault = 30_000;
/** Events that are read: those of the probes, and what else may happen meanwhile. */
const [otherEventsMax, eventsMax] = [40, 500];

const examples = `
Examples:
  probelet probe target/checkout
  probelet probe target checkout --timeout 1m`;

export const probeCommand = (setting: CommandSetting): Command =>
  apiCommand('probe')
    .description('probe a target now, and print what each probe found; exit code 1: a failure, 3: not in time')
    .argument('<target...>', 'target/NAME, or target NAME')
    .addOption(
      new Option('--timeout <duration>', 'how long to wait for the results')
        .argParser(milliseconds)
        .default(timeoutMsDefault, `${timeoutMsDefault / 1_000}s`),
    )
    .addHelpText('after', examples)
    .action(async (words: readonly string[], _options: Options, command: Command) => {
      const { io } = setting;
      const [name = '', ...more] = targetNames(words);
      if (more.length > 0) throw new CliError('one target at a time is probed', exitCodes.wrongUse);
      const connection = connectionOf(flagsOf(command), io.env);
      const endMs = io.clock.monotonicMs() + command.opts<Options>().timeout;
      await withSession(connection, { io }, (session) => probeNow(setting, session, name, endMs));
    });

async function probeNow(setting: CommandSetting, session: Session, name: string, endMs: number): Promise<void> {
  const { client, namespace } = session;
  const named = { namespace, name };
  const before = await client.target(named);
  if (!before) throw noTarget(name, namespace);
  const limit = Math.min(eventsMax, otherEventsMax + before.status.probes.length);
  const earlier = await client.events(named, limit);
  const requested = await client.probe(named);
  if (!requested) throw noTarget(name, namespace);
  if (requested.probes.length === 0) throw new CliError(`target/${name} has no probes`);
  const known = new Set(earlier?.map(({ id }) => id));
  const search = { requested: requested.probes, known, limit };
  await printFound(setting, session, named, search, endMs);
}

/** The events to look for. */
type Search = {
  readonly requested: RequestedProbes['probes'];
  /** IDs of the events before the request. */
  readonly known: ReadonlySet<string>;
  readonly limit: number;
};

/** Prints what each probe has found as soon as it is known, and then the probes as the target shows them. */
async function printFound(
  { io, endWith }: CommandSetting,
  session: Session,
  named: NamedTarget,
  { requested, known, limit }: Search,
  endMs: number,
): Promise<void> {
  const found = new Map<string, EventView>();
  for (;;) {
    const events = await session.client.events(named, limit);
    if (!events) throw noTarget(named.name, named.namespace);
    for (const event of events) {
      if (event.reason !== probedReason || known.has(event.id) || found.has(keyOfProbe(event))) continue;
      found.set(keyOfProbe(event), event);
      for (const line of foundLines(named, event)) io.line(line);
    }
    const left = requested.filter((each) => !found.has(keyOfProbe(each)));
    if (left.length === 0) break;
    if (io.clock.monotonicMs() >= endMs) throw new CliError(lateText(named.name, left), exitCodes.notInTime);
    await sleep(io.clock, pollMs);
  }
  const target = await session.client.target(named);
  if (!target) throw noTarget(named.name, named.namespace);
  const style = { hasNamespace: false, isWide: true };
  io.out(tableText([probeHead(style), ...probeRows(target, style, io.clock.nowMs())], io));
  if ([...found.values()].some(({ result }) => result !== 'success')) endWith(exitCodes.failed);
}

/** The reason of the event that says what a requested probe has found. */
const probedReason = 'Probed';

type ProbeKey = { readonly container?: string | undefined; readonly probeType?: string | undefined };

const keyOfProbe = ({ container, probeType }: ProbeKey): string => `${container}#${probeType}`;

const lateText = (name: string, left: readonly ProbeKey[]): string =>
  `target/${name}: no result of ${left.map(keyOfProbe).join(', ')} by the end of --timeout; 'probelet describe target ${name}' shows why`;

function foundLines(
  { namespace, name }: NamedTarget,
  { container, probeType, result, attempts }: EventView,
): readonly string[] {
  const head = `${probeType} probe of ${namespace}/${name}, container ${container}: ${result ?? 'unknown'}`;
  return [head, ...attempts.flatMap(attemptLines)];
}
