/** The size of a simulated world: its targets, its processes, and whether computing takes time. */
import type { Capacity } from '../../shared/core/shards/layout.ts';
import type { TableCapacity } from './capacity.ts';
import type { CpuModel } from './cpu.ts';
import { crowdedTargets } from './crowded-targets.ts';
import { largeTargets, tickTargets } from './large-targets.ts';
import { isAtSite, sandboxTargets, scarceTargets, siteTargets } from './site-targets.ts';
import { type ScriptedTarget, scriptedTargets } from './targets.ts';

export type WorldName =
  | 'small'
  | 'watched'
  | 'functions'
  | 'releases'
  | 'tick'
  | 'large'
  | 'crowded'
  | 'site'
  | 'sandboxes'
  | 'scarce';

export type Setting = {
  readonly name: WorldName;
  readonly targets: readonly ScriptedTarget[];
  /** No container of a static target is restarted. */
  readonly restartsNone?: true;
  /** Whether this target's endpoints fail and recover with those of other targets; absent: none do. */
  readonly sharesFate?: (target: ScriptedTarget) => boolean;
  /** The time over which the targets are first registered. */
  readonly registrationMs: number;
  readonly workers: number;
  readonly shardsPerWorker: number;
  readonly syncs: number;
  /** Capacity of one holder, as the schedule knows it. */
  readonly capacity: Capacity;
  /** A layout change multiplies the capacity by one of these. */
  readonly capacityFactors: readonly number[];
  readonly mode: 'auto' | 'tick';
  /** Bounds of the random time between two reads through the API. */
  readonly looksAfterMs: readonly [number, number];
  /** Processes are Lambda functions: status-sync gets batches from a queue, and idle containers are frozen. */
  readonly functions: boolean;
  /** No target turns unhealthy at its first failure. */
  readonly turnsLate?: true;
  /** There is a canary on each way out, of which one may be cut. */
  readonly hasRoutes?: true;
  /** Absent: computing takes no time. */
  readonly cpu?: CpuModel;
  /** Absent: the table takes whatever is asked of it. */
  readonly tableCapacity?: TableCapacity;
};

const unlimited = Number.POSITIVE_INFINITY;

/** Without answers the 14 targets have some 2.5 probes in flight: 2 or 3 shards, 1 to 4 as layouts change. */
const smallSocketsPerShard = 2.8;

const small: Setting = {
  name: 'small',
  targets: scriptedTargets,
  registrationMs: 20_000,
  // Capacity for twice the largest number of shards.
  workers: 4,
  shardsPerWorker: 3,
  syncs: 2,
  capacity: { cpu: 1, sockets: smallSocketsPerShard, memory: unlimited },
  capacityFactors: [0.6, 1, 1, 1.5, 4],
  mode: 'auto',
  looksAfterMs: [40_000, 200_000],
  functions: false,
};

/** The small world with frequent reads, to catch what the API shows for a few seconds only. */
const watched: Setting = { ...small, name: 'watched', looksAfterMs: [300, 1_500] };

/** The share of a vCPU of a function with the default 256 MB: 1,769 MB are one vCPU (AWS Lambda Developer Guide). */
const functionCpu = 256 / 1_769;

/** The sockets of a process, as in shared/core/self/sockets.ts. */
const processSockets = 700;

const large: Setting = {
  name: 'large',
  turnsLate: true,
  targets: largeTargets,
  registrationMs: 90_000,
  workers: 6,
  shardsPerWorker: 1,
  syncs: 6,
  capacity: { cpu: functionCpu, sockets: processSockets, memory: unlimited },
  // Usually one shard; two or four at the smaller capacities.
  capacityFactors: [0.2, 0.4, 1, 1, 1],
  mode: 'auto',
  looksAfterMs: [40_000, 200_000],
  functions: true,
  cpu: { vcpus: functionCpu },
};

/** The deployment's functions, with so few targets that an hour takes seconds to simulate. */
const functions: Setting = { ...large, name: 'functions', targets: largeTargets.slice(0, 60) };

/** Two shards of functions, one to three as layouts change, so that a release may take one of them or all. */
const releases: Setting = {
  ...functions,
  name: 'releases',
  capacity: { cpu: 100, sockets: 3, memory: unlimited },
  capacityFactors: [0.6, 1, 1, 1.5],
};

const { turnsLate: _, ...largeTurning } = large;
const tick: Setting = { ...largeTurning, name: 'tick', targets: tickTargets, mode: 'tick' };

const oneShard: Setting = {
  ...small,
  workers: 3,
  capacity: { cpu: 100, sockets: 100_000, memory: unlimited },
  capacityFactors: [1],
};

/** One shard with more targets than sockets. A worker that waits for a socket cannot adopt a container. */
const crowded: Setting = { ...oneShard, name: 'crowded', restartsNone: true, targets: crowdedTargets };

/** One shard, most of whose targets fail at the same moment. */
const site: Setting = { ...oneShard, name: 'site', targets: siteTargets, sharesFate: isAtSite };

/** A site of functions on the internet, whose sandboxes lie and whose way out is cut. */
const sandboxes: Setting = {
  ...site,
  name: 'sandboxes',
  functions: true,
  turnsLate: true,
  hasRoutes: true,
  targets: sandboxTargets,
};

/**
 * A site of functions, on a table that takes half a minute to take in what its targets are found to be when they fail
 * together within a period. They are registered at a pace that it can take.
 */
const scarce: Setting = {
  ...site,
  name: 'scarce',
  functions: true,
  targets: scarceTargets,
  registrationMs: 180_000,
  tableCapacity: { table: { reads: 120, writes: 40 }, partition: { reads: 60, writes: 20 } },
};

export const settings: Readonly<Record<WorldName, Setting>> = {
  small,
  watched,
  functions,
  releases,
  tick,
  large,
  crowded,
  site,
  sandboxes,
  scarce,
};

export const worldNames: readonly string[] = Object.keys(settings);

export const isWorldName = (text: string): text is WorldName => worldNames.includes(text);
