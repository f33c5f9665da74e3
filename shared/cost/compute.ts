/** Finds what holds a fleet at the least cost: the prober's function or its tasks, and the function's memory. Pure. */
import { vcpuMb } from '../core/shards/layout.ts';
import { bucketCount } from '../core/shards/slots.ts';
import { estimateCost } from './estimate.ts';
import { type Compute, type Fleet, type FleetLayout, type FleetMode, targetsOf } from './fleet.ts';

/** The function's memory in MB. Beside tasks it is that of one vCPU, so that a shard fits the function as well. */
export const memoryFor = (compute: Compute, fleet: Fleet, mode: FleetMode): number =>
  compute === 'fargate' ? vcpuMb : fittingMemory(fleet, mode);

export function cheapestCompute(fleet: Fleet, mode: FleetMode): Compute {
  const usdOf = (compute: Compute) =>
    estimateCost({ ...withoutWatching, fleet, mode, compute, memorySize: memoryFor(compute, fleet, mode) }).usd;
  return usdOf('fargate') < usdOf('lambda') ? 'fargate' : 'lambda';
}

/**
 * Room in each shard, as a factor of the targets. Hashes spread targets over the shards only nearly evenly, and a shard
 * above its threshold is split into two, which costs twice as much.
 */
const growth = 1.1;

/** The largest has a whole vCPU, and one event loop can use no more. */
const [memoryMin, memoryMax] = [224, 1_792];
const memoryStep = 32;

/**
 * Upper bounds of what `npm run bench:function-memory` prints. The rest is for more probes a target, failing ones, and
 * Lambda's runtime.
 */
const residentMb = 157;
const residentMbPerTarget = 0.06;
const residentPart = 0.8;

/** Alarms, metrics and the dashboard cost the same for every memory. */
export const withoutWatching = { alarms: 0, metrics: 0, dashboard: false } as const;

/** The memory in MB that holds a fleet at the least cost; the largest if no number of shards holds the fleet. */
export function fittingMemory(fleet: Fleet, mode: FleetMode): number {
  const grown = fleet.map((part) => ({ ...part, targets: part.targets * growth }));
  const sizes = Array.from(
    { length: (memoryMax - memoryMin) / memoryStep + 1 },
    (_, index) => memoryMin + index * memoryStep,
  );
  const estimates = sizes.map((memorySize) => ({
    memorySize,
    ...estimateCost({ ...withoutWatching, fleet: grown, mode, memorySize }),
  }));
  const fitting = estimates.filter(
    ({ memorySize, layout }) => layout.load <= 1 && heldMb(grown, layout) <= residentPart * memorySize,
  );
  if (fitting.length === 0) return memoryMax;
  return fitting.reduce((best, one) => (one.usd < best.usd ? one : best)).memorySize;
}

/** Resident memory of the shard with the most targets. */
function heldMb(fleet: Fleet, { shards }: FleetLayout): number {
  const largest = Math.max(...shards.map(({ buckets }) => buckets)) / bucketCount;
  return residentMb + residentMbPerTarget * targetsOf(fleet) * largest;
}
