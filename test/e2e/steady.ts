/**
 * 1,000 healthy probes at 10 s for a minute after every first result: what they cost the store and the CPU. Ends with
 * `N passed, N failed`.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Runtime, startRuntime } from '../../functions/local/process/runtime.ts';
import { slotAt } from '../../shared/core/shards/slots.ts';
import { sleep, systemClock } from '../../shared/lib/clock.ts';
import { systemRandom } from '../../shared/lib/random.ts';
import type { Store } from '../../shared/store/store.ts';
import { askApi, register } from '../support/api-client.ts';
import { forkServer } from '../support/children.ts';
import { type StoreCounts, storeCounter } from '../support/counting-store.ts';
import { recordingLog } from '../support/recording-log.ts';
import { probeTotals } from '../support/scraped.ts';
import { tallyOf } from '../support/tally.ts';
import { until } from '../support/wait.ts';

const targets = 1_000;
const periodSeconds = 10;
const measuredMs = 60_000;
const settling = { withinMs: 360_000, pollMs: 500 };
/** For this long only the beat has been written. The timekeeper last looks at a target 10 s after its last change. */
const quietMs = 12_000;
/** The only shard. */
const shard = { from: 0, mode: 'resident' } as const;
/** A minute after its start a run has written the last checkpoint of what it took over. */
const takeOverMs = 75_000;

/** Of 6,000 that are due. */
const probesMin = 5_900;
const checkpointsMax = 2;
const beatsMax = 12;

export async function measureSteady(say: (line: string) => void): Promise<boolean> {
  const server = await forkServer('../bench/healthy-server.ts', import.meta.url);
  const dataDir = mkdtempSync(join(tmpdir(), 'probelet-steady-'));
  const counter = storeCounter();
  const log = recordingLog();
  const wrapStore = (store: Store) => counter.wrap(store);
  const runtime = startRuntime({ dataDir }, { clock: systemClock, random: systemRandom, log, wrapStore });
  try {
    await runtime.shard.loaded;
    const readinessProbe = { httpGet: { path: '/ready', port: server.port }, periodSeconds };
    for (let at = 0; at < targets; at += 1)
      await register(runtime, `steady-${at}`, { host: '127.0.0.1', readinessProbe });
    await settled(runtime, counter.counts);
    return judge(await measure(runtime, counter.counts), say);
  } finally {
    await runtime.stop();
    server.child.disconnect();
    rmSync(dataDir, { recursive: true, force: true });
  }
}

/** Every result is there and published, and the slot is past its take-over and lasts longer than the measurement. */
function settled(runtime: Runtime, counts: () => StoreCounts): Promise<true> {
  let before = changes(counts());
  let quietSinceMs = Date.now();
  return until('the targets settle', settling, async () => {
    const now = changes(counts());
    if (now !== before || (await probesDone(runtime)) < targets) quietSinceMs = Date.now();
    before = now;
    const nowMs = Date.now();
    const slot = slotAt(shard, nowMs);
    const isWithin = nowMs - slot.beginMs > takeOverMs && slot.endMs - nowMs > 2 * quietMs + measuredMs;
    return nowMs - quietSinceMs > quietMs && isWithin;
  });
}

const changes = ({ writes }: StoreCounts): number =>
  Object.entries(writes).reduce((sum, [kind, count]) => sum + (kind === 'RUN' ? 0 : count), 0);

async function probesDone(runtime: Runtime): Promise<number> {
  const { text } = await askApi(runtime, 'GET', '/metrics');
  const done = probeTotals(text).filter(({ labels }) => labels.result === 'successful');
  return done.reduce((sum, { value }) => sum + value, 0);
}

type Measured = {
  readonly probes: number;
  readonly cpuUs: number;
  readonly calls: number;
  readonly writes: StoreCounts['writes'];
};

async function measure(runtime: Runtime, counts: () => StoreCounts): Promise<Measured> {
  const [probesBefore, before] = [await probesDone(runtime), counts()];
  const cpu = process.cpuUsage();
  await sleep(systemClock, measuredMs);
  const { user, system } = process.cpuUsage(cpu);
  const after = counts();
  const kinds = Object.keys(after.writes);
  const writes = Object.fromEntries(
    kinds.map((kind) => [kind, (after.writes[kind] ?? 0) - (before.writes[kind] ?? 0)]),
  );
  return {
    probes: (await probesDone(runtime)) - probesBefore,
    cpuUs: user + system,
    calls: after.calls - before.calls,
    writes,
  };
}

/** true: within all limits. */
function judge({ probes, cpuUs, calls, writes }: Measured, say: (line: string) => void): boolean {
  const { PROBE = 0, CHECKPOINT = 0, RUN = 0, ...others } = writes;
  const other = Object.values(others).reduce((sum, count) => sum + count, 0);
  const limits: readonly (readonly [string, boolean])[] = [
    [`${probes} probes done (at least ${probesMin})`, probes >= probesMin],
    [`${PROBE} writes to PROBE items (none)`, PROBE === 0],
    [`${CHECKPOINT} checkpoint writes (at most ${checkpointsMax})`, CHECKPOINT <= checkpointsMax],
    [`${RUN} RUN writes (at most ${beatsMax})`, RUN <= beatsMax],
    [`${other} other store writes (none): ${JSON.stringify(others)}`, other === 0],
  ];
  const tally = tallyOf(say);
  for (const [what, held] of limits) tally.verdict(what, held);
  say(`${(cpuUs / probes).toFixed(0)} µs of CPU per probe, ${(calls / probes).toFixed(4)} store calls per probe`);
  return tally.end();
}
