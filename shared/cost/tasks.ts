/** How many tasks of ECS Fargate hold a fleet, and how large each is. Pure. */
import type { FleetLayout } from './fleet.ts';
import { spotPart } from './prices.ts';

/** What holds the shards: functions, or tasks. */
export type Compute = 'lambda' | 'fargate';

/** One vCPU, which is all that an event loop can use, with the least memory that Fargate sells with it. */
export const taskSize = { vcpus: 1, gb: 2 } as const;

/** Ready to take the shard of a task that ends, or the second half of a shard that is split. */
const spareTasks = 1;

/** A task for each shard, and the spare. */
export const tasksOf = ({ shards }: Pick<FleetLayout, 'shards'>): number => shards.length + spareTasks;

export type Held = { readonly compute: Compute; readonly memorySize: number };

/** What the shards are held by, to follow their number in an estimate. */
export const heldText = (layout: Pick<FleetLayout, 'shards'>, { compute, memorySize }: Held): string =>
  compute === 'fargate'
    ? `in ${tasksOf(layout)} tasks of ${taskSize.vcpus} vCPU and ${taskSize.gb} GB by Spot at ${Math.round(spotPart * 100)} % of the price`
    : `of ${memorySize} MB`;

/** Why no number of shards holds the fleet, where the load of the heaviest is above 1. */
export const tooHeavyText = ({ load }: Pick<FleetLayout, 'load'>, { compute, memorySize }: Held): string =>
  compute === 'fargate'
    ? `tasks of ${taskSize.vcpus} vCPU are too small for this fleet, which may be ${load.toFixed(1)} times smaller`
    : `${memorySize} MB are too few for this fleet`;
