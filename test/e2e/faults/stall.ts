/** The whole process stands still for longer than its lease, repeatedly: SIGSTOP and SIGCONT of one `npm start`. */
import { join } from 'node:path';
import { sleep, systemClock } from '../../../shared/lib/clock.ts';
import { answerOf, forkBeside } from '../../support/children.ts';
import { atLeast, atMost, exactly, type Figure, unjudged } from '../../support/figures.ts';
import { probeTotals } from '../../support/scraped.ts';
import { type RealWorld, startRealWorld } from '../real-world.ts';
import type { WorldEvent } from '../world.ts';
import type { Answered, Stall, Told } from './answering.ts';
import { isWell, listTargets, register, untilAll } from './listed.ts';
import { changesSince, type Failure, readResults } from './results.ts';
import { slowMs, timeoutMs } from './slow-answers.ts';
import type { Length, Step } from './step.ts';

const targets = 120;
const periodSeconds = 2;
const stops: Readonly<Record<Length, number>> = { full: 3, slice: 2 };
const stallMs = 40_000;
/** Between two, and until everything is as it was. */
const betweenMs = 30_000;
const settleMsMax = 180_000;
/** Slow targets answer again this long after SIGCONT: before a probe that begins then would time out. */
const releaseMs = 300;
/** L4: what a crash may cost. */
const gapMsMax = periodSeconds * 1_000 + 25_000;

export const stallStep: Step = {
  name: 'stall',
  title: 'A process that is stopped for 40 s',
  async run(length) {
    const servers = forkBeside('answering.ts', import.meta.url);
    try {
      const { port } = (await answerOf(servers)) as Answered;
      const ask = async (unjudged: Told = {}) => (await answerOf(servers, unjudged)) as Answered;
      const world = await startRealWorld();
      const resume = () => process.kill(world.pid(), 'SIGCONT');
      return await measure(world, { port, ask, count: stops[length] }).finally(() => {
        resume();
        return world.stop();
      });
    } finally {
      servers.kill('SIGKILL');
    }
  },
};

type Measuring = {
  readonly port: number;
  readonly ask: (unjudged?: Told) => Promise<Answered>;
  readonly count: number;
};

async function measure(world: RealWorld, { port, ask, count }: Measuring): Promise<readonly Figure[]> {
  for (let at = 0; at < targets; at += 1) await register(world.api, `target-${at}`, specOf(at, port));
  await untilAll(world.api, settleMsMax, isWell);
  await sleep(systemClock, 2 * periodSeconds * 1_000);
  const events: WorldEvent[] = [];
  world.subscribe((event) => events.push(event));
  const file = join(world.dataDir, 'probelet.sqlite');
  const before = readResults(file);
  const failedBefore = await counted(world, 'failed');
  const unknownBefore = await counted(world, 'unknown');
  const rounds: Round[] = [];
  for (let round = 0; round < count; round += 1) rounds.push(await stopAndGoOn(world, ask));
  const { failures, changed } = changesSince(before, readResults(file));
  const serversStalls = rounds.flatMap((round) => round.stalls);
  const ownDoing = failures.filter((failure) => stoodStill(failure, serversStalls));
  for (const { text } of failures) process.stdout.write(`FAILURE ${text}\n`);
  const excused = new Set(ownDoing.map(({ target }) => target));
  const isJudged = (name: string) => !excused.has(name);
  const published = (type: string) =>
    events.filter(({ 'detail-type': of, detail }) => of === type && 'target' in detail && isJudged(detail.target.name));
  const failed = difference(await counted(world, 'failed'), failedBefore, isJudged);
  const well = (await listTargets(world.api)).filter(isWell).length;
  return [
    unjudged(`targets, stopped ${count} times for ${stallMs / 1_000} s`, `${targets}`),
    atLeast('probes in flight when it was stopped', Math.min(...rounds.map(({ open }) => open)), { limit: 1 }),
    // None, if the run ends for its lost lease before the time-outs that are due with it.
    unjudged('probes that were void', `${difference(await counted(world, 'unknown'), unknownBefore)}`),
    exactly('probes counted as failed', failed, 0),
    exactly('Failure commits', failures.length - ownDoing.length, 0),
    unjudged('Failures of targets that stood still themselves', `${ownDoing.length}`),
    exactly('results changed', changed.filter(isJudged).length, 0),
    exactly('flips, by the bus', published('Probe Result Changed').length + published('Container Unhealthy').length, 0),
    exactly('restarts requested', published('Container Restart Requested').length, 0),
    atMost('every target probed again after it went on', Math.max(...rounds.map(({ againMs }) => againMs)) / 1_000, {
      limit: gapMsMax / 1_000,
      unit: 's',
    }),
    exactly('targets that are shown well in the end', well, targets),
  ];
}

/** By the servers' own stall times while this probe waited: a busy machine delays not only the prober. */
function stoodStill({ target, timeMs }: Failure, serversStalls: readonly Stall[]): boolean {
  const spareMs = timeoutMs - (isSlow(Number(target.split('-')[1])) ? slowMs : 0);
  const fromMs = timeMs - 2 * timeoutMs;
  const stoodMs = serversStalls
    .filter(({ untilMs, ms }) => untilMs > fromMs && untilMs - ms < timeMs)
    .reduce((sum, { ms }) => sum + ms, 0);
  return stoodMs >= spareMs;
}

/** Half of them, so that many are being asked at any moment. */
const isSlow = (at: number): boolean => at % 2 === 0;

function specOf(at: number, port: number): object {
  const probe = {
    httpGet: { path: `/${isSlow(at) ? 'slow' : 'fast'}/${at}`, port },
    periodSeconds,
    failureThreshold: 1,
  };
  return { host: '127.0.0.1', [at % 4 < 2 ? 'readinessProbe' : 'livenessProbe']: probe };
}

type Round = {
  /** Probes in flight when the process was stopped. */
  readonly open: number;
  /** Until the last target was probed again. */
  readonly againMs: number;
  readonly stalls: readonly Stall[];
};

async function stopAndGoOn(world: RealWorld, ask: Measuring['ask']): Promise<Round> {
  process.kill(world.pid(), 'SIGSTOP');
  // A pending answer would be a success to a process that reads its sockets before its timers.
  const stopped = await ask({ slow: 'hold' });
  await sleep(systemClock, stallMs);
  const stood = await ask();
  const resumedAtMs = Date.now();
  process.kill(world.pid(), 'SIGCONT');
  await sleep(systemClock, releaseMs);
  const released = await ask({ slow: 'release' });
  await sleep(systemClock, betweenMs - releaseMs);
  const after = await ask();
  const asked = { ...after.asked, ...released.asked };
  const first = Object.values(asked).map((times) => (times[0] ?? Number.POSITIVE_INFINITY) - resumedAtMs);
  return {
    open: stopped.open,
    againMs: first.length === targets ? Math.max(...first) : Number.POSITIVE_INFINITY,
    stalls: [stopped, stood, released, after].flatMap(({ stalls }) => stalls),
  };
}

/** By target. */
type Counted = ReadonlyMap<string, number>;

/** By kubelet's own metric. */
async function counted(world: RealWorld, result: 'unknown' | 'failed'): Promise<Counted> {
  const text = await (await fetch(`${world.baseUrl()}/metrics`)).text();
  const counted = probeTotals(text).filter(({ labels }) => labels.result === result);
  return new Map(counted.map(({ labels, value }) => [labels.pod ?? '', value]));
}

function difference(after: Counted, before: Counted, counts: (name: string) => boolean = () => true): number {
  return [...after].reduce((sum, [name, count]) => sum + (counts(name) ? count - (before.get(name) ?? 0) : 0), 0);
}
