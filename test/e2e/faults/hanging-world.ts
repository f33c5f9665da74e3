/** Measures how late healthy targets are probed beside targets that hang and names that do not resolve. */
import { type ChildProcess, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { sleep, systemClock } from '../../../shared/lib/clock.ts';
import { answerOf, forkBeside } from '../../support/children.ts';
import { longestSince, type Standstill } from '../../support/standstill.ts';
import type { Orders } from './hanging-prober.ts';
import type { Asked, Served, Servers } from './hanging-targets.ts';

export type Measuring = Omit<Orders, 'ports'> & {
  /** Until every target has been asked once. */
  readonly settleMs: number;
  readonly measuredMs: number;
};

export type Measured = {
  /** Of every probe of a healthy target, ascending. */
  readonly latenessesMs: readonly number[];
  /** Ticks of healthy targets without a probe. */
  readonly missed: number;
  /** What the prober said in the end. */
  readonly ended: Ended;
  /** For so long the machine let the prober or its targets wait for a processor, at most. */
  readonly stoodStillMs: number;
};

type Ended = {
  readonly doubt?: object;
  readonly errors: readonly object[];
  readonly probes: number;
  readonly standstills: readonly Standstill[];
};

/** Throws if the prober ends before it has reported. */
export async function measureHanging({ settleMs, measuredMs, ...orders }: Measuring): Promise<Measured> {
  const targets = forkBeside('hanging-targets.ts', import.meta.url);
  let prober: ChildProcess | undefined;
  try {
    const { dns, ...ports } = (await answerOf(targets)) as Servers;
    prober = startProber(dns);
    await answerOf(prober);
    await answerOf(prober, { ...orders, ports } satisfies Orders);
    await sleep(systemClock, settleMs);
    const fromMs = Date.now();
    await sleep(systemClock, measuredMs);
    const untilMs = Date.now();
    const { asked, standstills } = (await answerOf(targets, 'asked')) as Served;
    const ended = (await answerOf(prober, 'end')) as Ended;
    const periodMs = orders.periodSeconds * 1000;
    return {
      ...latenesses(asked, { fromMs, untilMs, periodMs }),
      ended,
      stoodStillMs: longestSince([...standstills, ...ended.standstills], fromMs),
    };
  } finally {
    prober?.kill('SIGKILL');
    targets.disconnect();
  }
}

/** As Lambda has it. */
function startProber(dns: string): ChildProcess {
  const command = 'ulimit -n 1024 && exec "$@"';
  const node = [process.execPath, fileURLToPath(new URL('hanging-prober.ts', import.meta.url)), dns];
  return spawn('/bin/sh', ['-c', command, 'sh', ...node], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
}

type Window = { readonly fromMs: number; readonly untilMs: number; readonly periodMs: number };

/** A probe that is earlier by more belongs to the tick before. */
const earlyMs = 5;

/** Against each target's own ticks, which follow from its name (a lateness of a period would be missed ticks). */
function latenesses(asked: Asked, { fromMs, untilMs, periodMs }: Window) {
  const latenessesMs: number[] = [];
  let missed = 0;
  for (const [url, times] of Object.entries(asked)) {
    const phaseMs = phaseOf(url, periodMs);
    const tickOf = (atMs: number) => Math.floor((atMs + earlyMs - phaseMs) / periodMs);
    const served = new Map(times.map((atMs) => [tickOf(atMs), atMs]));
    for (let tick = tickOf(fromMs) + 1; tick < tickOf(untilMs); tick += 1) {
      const atMs = served.get(tick);
      if (atMs === undefined) missed += 1;
      else latenessesMs.push(Math.max(0, atMs - tick * periodMs - phaseMs));
    }
  }
  return { missed, latenessesMs: latenessesMs.sort((a, b) => a - b) };
}

/** Hashed, as shared/holder/probing/reconcile.ts does. A healthy target's path is its name. */
function phaseOf(url: string, periodMs: number): number {
  const fullName = `default/${url.slice(1)}#main#readiness`;
  return createHash('sha256').update(fullName).digest().readUInt32BE(0) % periodMs;
}
