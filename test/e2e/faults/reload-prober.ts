/** The prober of `reload.ts`: the whole product with all targets in one bucket, which it reads again and again. */
import { systemRandom } from '../../../shared/lib/random.ts';
import { bucketOf, changesPk, targetHash } from '../../../shared/store/records/keys.ts';
import { register } from '../../support/api-client.ts';
import { pause } from '../../support/wait.ts';
import { obey, startInMemory } from './in-memory.ts';

export type Orders = {
  readonly targets: number;
  readonly flapping: number;
  readonly port: number;
  readonly rounds: number;
};

export type Reloaded = {
  /** The reason of its doubt, once for each look at which it doubted itself. */
  readonly doubts: readonly string[];
  readonly degraded: number;
  readonly errors: readonly object[];
  /** Turns of the event loop in which the process used the CPU for longer than a slice may take, longest first. */
  readonly turnsMs: readonly number[];
};

const bucket = '00';
const periodSeconds = 10;
const roundMs = 5_000;

const { runtime, store, log } = await startInMemory();

let degraded = 0;
runtime.bus.subscribe({ 'detail-type': ['Prober Degraded'] }, () => {
  degraded += 1;
});

async function registerAll({ targets, flapping, port }: Orders): Promise<void> {
  for (let number = 0, at = 0; at < targets; number += 1) {
    const name = `target-${number}`;
    if (bucketOf(targetHash('default', name)) !== bucket) continue;
    const path = at < flapping ? `/flapping-${at}` : '/healthy';
    const readinessProbe = { httpGet: { path, port }, periodSeconds };
    await register(runtime, name, { host: '127.0.0.1', readinessProbe });
    at += 1;
  }
}

/** Raises all change counters of the bucket, so that the holder reads all targets again. */
async function moveCounters(): Promise<void> {
  const slices = Array.from({ length: 256 }, (_, slice) => [slice.toString(16).padStart(2, '0'), 1] as const);
  await store.write([{ kind: 'update', key: { pk: changesPk, sk: bucket }, add: Object.fromEntries(slices) }], {
    token: systemRandom.uuid(),
  });
}

const turnMsMin = 20;

/** CPU between two turns of the event loop; wall time says nothing where the process is stopped in between. */
function watchTurns(): () => readonly number[] {
  const turnsMs: number[] = [];
  let before = process.cpuUsage();
  const timer = setInterval(() => {
    const { user, system } = process.cpuUsage(before);
    before = process.cpuUsage();
    const usedMs = (user + system) / 1_000;
    if (usedMs >= turnMsMin) turnsMs.push(Math.round(usedMs));
  }, 1);
  return () => {
    clearInterval(timer);
    return turnsMs.sort((a, b) => b - a);
  };
}

obey(registerAll, async ({ rounds }: Orders): Promise<Reloaded> => {
  const doubts: string[] = [];
  const turns = watchTurns();
  for (let round = 0; round < rounds; round += 1) {
    await moveCounters();
    for (const endMs = Date.now() + roundMs; Date.now() < endMs; await pause(100)) {
      const doubt = runtime.shard.view()?.beat.doubt;
      if (doubt) doubts.push(doubt.reason);
    }
  }
  const errors = log.lines.filter(({ level }) => level === 'error');
  return { doubts, degraded, errors, turnsMs: turns().slice(0, 10) };
});
