/** Finds the prober's memory that holds a fleet at the least cost. Pure. */
import { bucketCount } from '../core/shards/slots.ts';
import { estimateCost } from './estimate.ts';
import { type Fleet, type FleetLayout, type FleetMode, targetsOf } from './fleet.ts';

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

/** In MB. The largest if the fleet is too much for every number of shards. */
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
