/**
 * Describes the expected targets in round numbers, and computes the shards that probelet's layout makes of them. Pure.
 */
import { capacityOf, planLayout, shareOf, splitAbove } from '../core/shards/layout.ts';
import { bucketCount } from '../core/shards/slots.ts';
import { type BucketWeight, probeBytes, targetBytes } from '../core/shards/weight.ts';
import { type ProbeCost, probeCpuMs } from '../core/spec/handler-fields.ts';
import { tickPeriodSecondsMin } from '../core/spec/limits.ts';
import { spotPart } from './prices.ts';

/**
 * The way to a target, by what AWS bills for it: over the `internet`; by a public address in the same `region`; by a
 * private one in the `vpc`, reckoned as in another zone (in the same zone it is free); over the internet through a
 * `nat` gateway.
 */
export const reaches = ['internet', 'region', 'vpc', 'nat'] as const;
export type Reach = (typeof reaches)[number];

export type FleetPart = {
  readonly targets: number;
  readonly periodSeconds: number;
  /** Defaults to `http`. */
  readonly probe?: ProbeCost;
  /** Defaults to 1. */
  readonly probesPerTarget?: number;
  /** Defaults to `internet`. */
  readonly reach?: Reach;
};

export type Fleet = readonly FleetPart[];

export type FleetMode = 'auto' | 'resident' | 'tick';

export type FleetShard = {
  readonly mode: 'idle' | 'resident' | 'tick';
  /** Number of buckets. */
  readonly buckets: number;
};

export type FleetLayout = {
  readonly shards: readonly FleetShard[];
  /**
   * The load of the heaviest shard, relative to the threshold for a split. Above 1 the shard cannot be split further,
   * so only more memory helps.
   */
  readonly load: number;
};

const timeoutSeconds = 1;

const ways: Readonly<Record<Reach, string>> = {
  internet: 'over the internet',
  region: 'within the region',
  vpc: 'within the VPC',
  nat: 'through a NAT gateway',
};

/** To follow what is probed, in a text. */
export const wayText = (reach: Reach = 'internet'): string => ways[reach];

export const targetsOf = (fleet: Fleet): number => fleet.reduce((sum, { targets }) => sum + targets, 0);

/** Probes per second of one part of the fleet. */
export const probesPerSecond = ({ targets, periodSeconds, probesPerTarget = 1 }: FleetPart): number =>
  (targets * probesPerTarget) / periodSeconds;

export function fleetLayout(
  fleet: Fleet,
  options: { readonly mode: FleetMode; readonly memorySize: number },
): FleetLayout {
  const bucket = bucketWeight(fleet);
  const capacity = capacityOf(options.memorySize);
  const context = { nowMs: 0, capacity, mode: options.mode };
  const { shards } = planLayout({ version: 0, shards: [] }, Array(bucketCount).fill(bucket), context);
  const heaviest = Math.max(...shards.map(({ from, to }) => to - from));
  const load = (heaviest * shareOf(bucket, capacity)) / splitAbove;
  return { shards: shards.map(({ mode, from, to }) => ({ mode, buckets: to - from })), load };
}

/** A hash spreads targets evenly over the buckets. */
function bucketWeight(fleet: Fleet): BucketWeight {
  const sum = (of: (part: FleetPart) => number) => fleet.reduce((total, part) => total + of(part), 0) / bucketCount;
  return {
    targets: targetsOf(fleet) / bucketCount,
    cpu: sum((part) => (probesPerSecond(part) * probeCpuMs[part.probe ?? 'http']) / 1_000),
    sockets: sum((part) => probesPerSecond(part) * timeoutSeconds),
    memory: sum(({ targets, probesPerTarget = 1 }) => targets * (targetBytes + probesPerTarget * probeBytes)),
    mode: fleetMode(fleet),
  };
}

function fleetMode(fleet: Fleet): BucketWeight['mode'] {
  const parts = fleet.filter(({ targets }) => targets > 0);
  if (parts.length === 0) return 'idle';
  return parts.some(({ periodSeconds }) => periodSeconds < tickPeriodSecondsMin) ? 'resident' : 'tick';
}

// Tasks of ECS Fargate that hold a fleet.

/** What holds the shards: functions, or tasks. */
export type Compute = 'lambda' | 'fargate';

/** One vCPU, which is all that an event loop can use, with the least memory that Fargate sells with it. */
export const taskSize = { vcpus: 1, gb: 2 } as const;

/** Ready to take the shard of a task that ends, or the second half of a shard that is split. */
const spareTasks = 1;

/** A task for each shard, and the spare. */
export const tasksOf = ({ shards }: Pick<FleetLayout, 'shards'>): number => shards.length + spareTasks;

export type ComputeChoice = { readonly compute: Compute; readonly memorySize: number };

/** What the shards are held by, to follow their number in an estimate. */
export const heldText = (layout: Pick<FleetLayout, 'shards'>, { compute, memorySize }: ComputeChoice): string =>
  compute === 'fargate'
    ? `in ${tasksOf(layout)} tasks of ${taskSize.vcpus} vCPU and ${taskSize.gb} GB by Spot at ${Math.round(spotPart * 100)} % of the price`
    : `of ${memorySize} MB`;

/** Why no number of shards holds the fleet, where the load of the heaviest is above 1. */
export const tooHeavyText = ({ load }: Pick<FleetLayout, 'load'>, { compute, memorySize }: ComputeChoice): string =>
  compute === 'fargate'
    ? `tasks of ${taskSize.vcpus} vCPU are too small for this fleet, which may be ${load.toFixed(1)} times smaller`
    : `${memorySize} MB are too few for this fleet`;
