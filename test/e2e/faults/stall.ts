/** The whole process stands still for longer than its lease, again and again: SIGSTOP and SIGCONT of one `npm start`. */
import { join } from 'node:path';
import { sleep, systemClock } from '../../../shared/lib/clock.ts';
import { atLeast, atMost, exactly, type Figure, told } from '../../support/figures.ts';
import { type RealWorld, startRealWorld } from '../real-world.ts';
import type { WorldEvent } from '../world.ts';
import type { Answered } from './answering.ts';
import { answerOf, forkBeside } from './children.ts';
import { isWell, listTargets, register, untilAll } from './listed.ts';
import { changesSince, readResults } from './results.ts';
import type { Length, Step } from './step.ts';

const targets = 120;
const periodSeconds = 2;
const stalls: Readonly<Record<Length, number>> = { full: 3, slice: 1 };
const stallMs = 40_000;
/** Between two, and until everything is as it was. */
const betweenMs = 30_000;
const settleMsMax = 60_000;
/** L4: what a crash may cost. */
const gapMsMax = periodSeconds * 1_000 + 25_000;

export const stallStep: Step = {
  name: 'stall',
  title: 'A process that is stopped for 40 s',
  async run(length) {
    const servers = forkBeside('answering.ts', import.meta.url);
    try {
      const { port } = (await answerOf(servers)) as Answered;
      const ask = async () => (await answerOf(servers, {})) as Answered;
      const world = await startRealWorld();
      const resume = () => process.kill(world.pid(), 'SIGCONT');
      return await measure(world, { port, ask, rounds: stalls[length] }).finally(() => {
        resume();
        return world.stop();
      });
    } finally {
      servers.kill('SIGKILL');
    }
  },
};

type Measuring = { readonly port: number; readonly ask: () => Promise<Answered>; readonly rounds: number };

async function measure(world: RealWorld, { port, ask, rounds }: Measuring): Promise<readonly Figure[]> {
  for (let at = 0; at < targets; at += 1) await register(world.api, `target-${at}`, specOf(at, port));
  await untilAll(world.api, settleMsMax, isWell);
  await sleep(systemClock, 2 * periodSeconds * 1_000);
  const events: WorldEvent[] = [];
  world.subscribe((event) => events.push(event));
  const file = join(world.dataDir, 'probelet.sqlite');
  const before = readResults(file);
  const countedBefore = await counted(world);
  const rows: Stall[] = [];
  for (let round = 0; round < rounds; round += 1) rows.push(await stall(world, ask));
  const after = await counted(world);
  const { failures, changed } = changesSince(before, readResults(file));
  const well = (await listTargets(world.api)).filter(isWell).length;
  const published = (type: string) => events.filter((event) => event['detail-type'] === type).length;
  return [
    told(`targets, stopped ${rounds} times for ${stallMs / 1_000} s`, `${targets}`),
    atLeast('probes in flight when it was stopped', Math.min(...rows.map(({ open }) => open)), { limit: 1 }),
    atLeast('probes that were void', after.unknown - countedBefore.unknown, { limit: 1 }),
    exactly('probes counted as failed', after.failed - countedBefore.failed, 0),
    exactly('Failure commits', failures, 0),
    exactly('results changed', changed, 0),
    exactly('flips, by the bus', published('Probe Result Changed') + published('Container Unhealthy'), 0),
    exactly('restarts requested', published('Container Restart Requested'), 0),
    atMost('every target probed again after it went on', Math.max(...rows.map(({ againMs }) => againMs)) / 1_000, {
      limit: gapMsMax / 1_000,
      unit: 's',
    }),
    exactly('targets that are shown well in the end', well, targets),
  ];
}

/** Half of them answer so slowly that many are being asked at any moment. */
function specOf(at: number, port: number): object {
  const probe = {
    httpGet: { path: `/${at % 2 === 0 ? 'slow' : 'fast'}/${at}`, port },
    periodSeconds,
    failureThreshold: 1,
  };
  return { host: '127.0.0.1', [at % 4 < 2 ? 'readinessProbe' : 'livenessProbe']: probe };
}

type Stall = {
  /** Probes in flight when the process was stopped. */
  readonly open: number;
  /** Until the last target was probed again. */
  readonly againMs: number;
};

async function stall(world: RealWorld, ask: Measuring['ask']): Promise<Stall> {
  process.kill(world.pid(), 'SIGSTOP');
  const { open } = await ask();
  await sleep(systemClock, stallMs);
  await ask();
  const resumedAtMs = Date.now();
  process.kill(world.pid(), 'SIGCONT');
  await sleep(systemClock, betweenMs);
  const first = Object.values((await ask()).asked).map((times) => (times[0] ?? Number.POSITIVE_INFINITY) - resumedAtMs);
  return { open, againMs: first.length === targets ? Math.max(...first) : Number.POSITIVE_INFINITY };
}

type Counted = { readonly unknown: number; readonly failed: number };

/** By kubelet's own metric. */
async function counted(world: RealWorld): Promise<Counted> {
  const text = await (await fetch(`${world.baseUrl()}/metrics`)).text();
  const sum = (result: string) =>
    text
      .split('\n')
      .filter((line) => line.startsWith('prober_probe_total{') && line.includes(`result="${result}"`))
      .reduce((total, line) => total + Number(line.slice(line.lastIndexOf(' '))), 0);
  return { unknown: sum('unknown'), failed: sum('failed') };
}
