/** How many tasks of ECS Fargate hold a fleet, and how large each is. Pure. */
import type { FleetLayout } from './fleet.ts';

/** What holds the shards: functions, or tasks. */
export type Compute = 'lambda' | 'fargate';

/** One vCPU, which is all that an event loop can use, with the least memory that Fargate sells with it. */
export const taskSize = { vcpus: 1, gb: 2 } as const;

/** Ready to take the shard of a task that ends, or the second half of a shard that is split. */
const spareTasks = 1;

/** A task for each shard, and the spare. */
export const tasksOf = ({ shards }: Pick<FleetLayout, 'shards'>): number => shards.length + spareTasks;
