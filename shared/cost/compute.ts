/** Finds what holds a fleet at the least cost: the prober's function or its tasks, and the function's memory. Pure. */
import { vcpuMb } from '../core/shards/layout.ts';
import { estimateCost } from './estimate.ts';
import { fittingMemory, withoutWatching } from './fitting-memory.ts';
import type { Fleet, FleetMode } from './fleet.ts';
import type { Compute } from './tasks.ts';

/** The function's memory in MB. Beside tasks it is that of one vCPU, so that a shard fits the function as well. */
export const memoryFor = (compute: Compute, fleet: Fleet, mode: FleetMode): number =>
  compute === 'fargate' ? vcpuMb : fittingMemory(fleet, mode);

export function cheapestCompute(fleet: Fleet, mode: FleetMode): Compute {
  const usdOf = (compute: Compute) =>
    estimateCost({ ...withoutWatching, fleet, mode, compute, memorySize: memoryFor(compute, fleet, mode) }).usd;
  return usdOf('fargate') < usdOf('lambda') ? 'fargate' : 'lambda';
}
