/** `probelet probe`: probes a target now, and waits for the results. */
import { type Command, Option } from 'commander';
import type { ProbeStatusView, TargetView } from '../../../shared/api/target-schema.ts';
import { sleep } from '../../../shared/lib/clock.ts';
import { apiCommand, connectionOf, flagsOf, type Session, withSession } from '../connection.ts';
import { milliseconds } from '../durations.ts';
import { CliError, exitCodes } from '../exit-codes.ts';
import type { Io } from '../io.ts';
import type { CommandSetting } from '../program.ts';
import { noTarget, targetNames } from '../resources.ts';
import { tableText } from '../tables.ts';
import { probeHead, probeRows } from '../target-rows.ts';

type Options = { readonly timeout: number };

const pollMs = 500;
const timeoutMsDefault = 30_000;

const examples = `
Examples:
  probelet probe target/checkout
  probelet probe target checkout --timeout 1m`;

export const probeCommand = ({ io }: CommandSetting): Command =>
  apiCommand('probe')
    .description('probe a target now, and print the results once they are known; exit code 3: not in time')
    .argument('<target...>', 'target/NAME, or target NAME')
    .addOption(
      new Option('--timeout <duration>', 'how long to wait for the results')
        .argParser(milliseconds)
        .default(timeoutMsDefault, `${timeoutMsDefault / 1_000}s`),
    )
    .addHelpText('after', examples)
    .action(async (words: readonly string[], _options: Options, command: Command) => {
      const [name = '', ...more] = targetNames(words);
      if (more.length > 0) throw new CliError('one target at a time is probed', exitCodes.wrongUse);
      const connection = connectionOf(flagsOf(command), io.env);
      const endMs = io.clock.monotonicMs() + command.opts<Options>().timeout;
      await withSession(connection, { io }, (session) => probeNow(name, { io, session, endMs }));
    });

type Probing = { readonly io: Io; readonly session: Session; readonly endMs: number };

async function probeNow(name: string, { io, session, endMs }: Probing): Promise<void> {
  const { client, namespace } = session;
  const named = { namespace, name };
  const before = await client.target(named);
  const requested = before && (await client.probe(named));
  if (!before || !requested) throw noTarget(name, namespace);
  if (requested.probes.length === 0) throw new CliError(`target/${name} has no probes`);
  for (;;) {
    const target = await client.target(named);
    if (!target) throw noTarget(name, namespace);
    if (target.status.probes.every((probe) => isDone(probe, requested.requestedAtMs, before.status.probes))) {
      const style = { hasNamespace: false, isWide: true };
      return io.out(tableText([probeHead(style), ...probeRows(target, style, io.clock.nowMs())], io));
    }
    if (io.clock.monotonicMs() >= endMs) throw new CliError(lateText(target), exitCodes.notInTime);
    await sleep(io.clock, pollMs);
  }
}

/** A result that stays the same is not written, and shows only when the next one is due. */
function lateText({ metadata: { name }, spec }: TargetView): string {
  const shown = 'no result of every probe has changed or is shown yet';
  const seconds = longestPeriodSeconds(spec);
  const next = `a result that stays the same shows up to ${seconds} s and a beat later, so allow more with --timeout`;
  return `target/${name}: ${shown}; ${next}, or see 'probelet describe target ${name}'`;
}

const longestPeriodSeconds = ({ containers, initContainers }: TargetView['spec']): number =>
  Math.max(
    ...[...initContainers, ...containers].flatMap(({ readinessProbe, livenessProbe, startupProbe }) =>
      [readinessProbe, livenessProbe, startupProbe].map((probe) => probe?.periodSeconds ?? 0),
    ),
  );

/**
 * Whether the probe has been done since the request. What the API shows as the last time is that of a period or of a
 * change, so a result that stays the same is known a period and a beat later at the latest.
 */
function isDone(probe: ProbeStatusView, requestedAtMs: number, before: readonly ProbeStatusView[]): boolean {
  const { container, probeType, lastProbeTime = '', lastChangeTime = '', version } = probe;
  const earlier = before.find((each) => each.container === container && each.probeType === probeType);
  if (earlier && version > earlier.version) return true;
  return Math.max(Date.parse(lastProbeTime) || 0, Date.parse(lastChangeTime) || 0) >= requestedAtMs;
}
