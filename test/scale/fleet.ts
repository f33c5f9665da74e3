/**
 * A simulated fleet as deployed on AWS, without faults: the product's schedule, prober, status-sync and API, on the
 * table, queue, bus and network of test/sim. Its targets are HTTP probes at kubelet's default period.
 */

import { capacityOf } from '../../shared/core/shards/layout.ts';
import { bucketCount } from '../../shared/core/shards/slots.ts';
import { probeCpuMs } from '../../shared/core/spec/handler-fields.ts';
import { fittingMemory } from '../../shared/cost/compute.ts';
import { type Fleet, fleetLayout } from '../../shared/cost/fleet.ts';
import { readWeights } from '../../shared/schedule/weights.ts';
import { changeCounted } from '../../shared/store/records/items.ts';
import { targetAddress } from '../../shared/store/records/keys.ts';
import type { Store } from '../../shared/store/store.ts';
import { type Life, worldStartMs } from '../sim/clock.ts';
import { costlyStore } from '../sim/cpu.ts';
import { eventLoop } from '../sim/event-loop.ts';
import type { Setting } from '../sim/setting.ts';
import type { Table } from '../sim/table.ts';
import { buildWorld, type World } from '../sim/world.ts';
import { recordingLog } from '../support/recording-log.ts';
import { seededRandom } from '../support/seeded-random.ts';
import { nameOf, writeSettled } from '../support/settled-targets.ts';
import { virtualClock } from '../support/virtual-clock.ts';
import { unitWatch } from './counts.ts';

export const periodSeconds = 10;
export const port = 8080;
export const minuteMs = 60_000;

const mode = 'auto';
const namespace = 'default';

/** MB as deployed (cdk/shard-schedule.ts, cdk/status-sync.ts, cdk/target-api.ts), and of one vCPU. */
export const functionMb = { schedule: 256, 'status-sync': 256, api: 512 } as const;
export const vcpuMb = 1_769;
/** As deployed: cdk/status-sync.ts. */
export const syncsMax = 5;

export const fleetOf = (targets: number): Fleet => [{ targets, periodSeconds, probe: 'http' }];

/** The prober's memory in MB, and the shards that the layout makes of so many targets spread evenly. */
export function plannedFleet(targets: number) {
  const memorySize = fittingMemory(fleetOf(targets), mode);
  return { memorySize, layout: fleetLayout(fleetOf(targets), { mode, memorySize }) };
}

export type SimulatedWorld = {
  readonly world: World;
  readonly watch: ReturnType<typeof unitWatch>;
  /** What weighing one bucket costs the schedule, ms of one vCPU. */
  readonly weighMs: number;
};

/** The targets are registered, have long been ready, and are not held yet. */
export async function fleetWorld(targets: number): Promise<SimulatedWorld> {
  const { memorySize, layout } = plannedFleet(targets);
  const watch = unitWatch();
  const world = buildWorld({
    seed: 1,
    profile: {
      ...{ skewMsMax: 0, faultEveryMs: minuteMs, stormMs: 0, selfDoubt: false, queueVisibilityMs: 900_000 },
      outageMs: 0,
    },
    setting: settingOf(memorySize, layout.shards.length),
    watchStore: watch.watchStore,
  });
  const weighMs = await seed(world.table, targets);
  world.table.onApplied(watch.applied);
  for (let at = 0; at < targets; at += 1) world.network.set(endpointOf(nameOf(at)), 'healthy');
  return { world, watch, weighMs };
}

export const endpointOf = (name: string): string => `${name}:${port}`;

const never = 1e12;

function settingOf(memorySize: number, shards: number): Setting {
  return {
    name: 'large',
    targets: [],
    registrationMs: 0,
    // Hashes spread targets only nearly evenly, so some shards are split once more; and each slot hands over.
    workers: 3 * shards + 2,
    shardsPerWorker: 1,
    syncs: syncsMax,
    capacity: capacityOf(memorySize),
    capacityFactors: [1],
    mode,
    looksAfterMs: [never, never],
    functions: true,
    cpu: {
      vcpus: functionMb.schedule / vcpuMb,
      vcpusOf: { worker: memorySize / vcpuMb, api: functionMb.api / vcpuMb },
    },
  };
}

/**
 * One target is registered and probed by the product; the others are its copies, since registering 100,000 in simulated
 * time takes longer than everything else. The change counters and weights are as after that many registrations. Returns
 * what weighing one bucket costs.
 */
async function seed(table: Table, targets: number): Promise<number> {
  const store = storeOn(table);
  const startMs = worldStartMs - 10 * minuteMs;
  await writeSettled(store, { targets, port, periodSeconds, handler: 'httpGet', namesHosts: true, startMs });
  const cpu = probeCpuMs.http / 1_000 / periodSeconds;
  for (let at = 0; at < targets; at += 1) {
    const counted = changeCounted(targetAddress(namespace, nameOf(at)), { targets: 1, cpu });
    await store.write([counted], { token: `counted ${at}` });
  }
  const loop = eventLoop(() => 0, 1);
  const life: Life = {
    ...{ name: 'seed', role: 'schedule', alive: true, pausedUntilMs: 0, timersFirst: true, skewMs: 0 },
    loop,
  };
  const random = seededRandom(1);
  await readWeights({ store: costlyStore(store, life), clock: virtualClock({ startMs }), random, log: recordingLog() });
  return loop.usedMs() / bucketCount;
}

/** The table without a network in between. */
const storeOn = (table: Table): Store => ({
  get: async (key) => table.get(key),
  query: async (query) => table.query(query),
  write: async (operations, { token }) => table.write({ operations, token, writer: 'seed' }),
});
