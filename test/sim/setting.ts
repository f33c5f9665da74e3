/** How large a simulated world is: its targets, its processes, and whether their work takes time. */
import type { Capacity } from '../../shared/core/layout.ts';
import type { CpuModel } from './cpu.ts';
import { crowdedTargets } from './crowded-targets.ts';
import { largeTargets, tickTargets } from './large-targets.ts';
import { isAtSite, siteTargets } from './site-targets.ts';
import { type ScriptedTarget, scriptedTargets } from './targets.ts';

export type WorldName = 'small' | 'watched' | 'functions' | 'tick' | 'large' | 'crowded' | 'site';

export type Setting = {
  readonly name: WorldName;
  readonly targets: readonly ScriptedTarget[];
  /** No container of a static target is restarted. */
  readonly restartsNone?: true;
  /** Of targets whose endpoints all fail and recover together; absent: there are none. */
  readonly sharesFate?: (target: ScriptedTarget) => boolean;
  /** The time over which the targets are first registered. */
  readonly registrationMs: number;
  readonly workers: number;
  readonly shardsPerWorker: number;
  readonly syncs: number;
  /** Of one holder, as the schedule knows it. */
  readonly capacity: Capacity;
  /** What a layout change multiplies the capacity with: one of these. */
  readonly capacityFactors: readonly number[];
  readonly mode: 'auto' | 'tick';
  /** Somebody reads a target through the API after a random time between these. */
  readonly looksAfterMs: readonly [number, number];
  /** Processes are functions of Lambda: status-sync gets batches of a queue, and containers are frozen between invocations. */
  readonly functions: boolean;
  /** Absent: computing takes no time. */
  readonly cpu?: CpuModel;
};

/** All 14 targets together have some 2.5 probes in flight while none is answered: two or three shards, one to four as layouts change. */
const smallSocketsPerShard = 2.8;

const small: Setting = {
  name: 'small',
  targets: scriptedTargets,
  registrationMs: 20_000,
  // Capacity for twice the shards that there ever are.
  workers: 4,
  shardsPerWorker: 3,
  syncs: 2,
  capacity: { cpu: 1, sockets: smallSocketsPerShard },
  capacityFactors: [0.6, 1, 1, 1.5, 4],
  mode: 'auto',
  looksAfterMs: [40_000, 200_000],
  functions: false,
};

/** The small world with a reader that never rests: what the API shows for a few seconds only is seen. */
const watched: Setting = { ...small, name: 'watched', looksAfterMs: [300, 1_500] };

/** The part of a vCPU that Lambda gives a function of 256 MB, the deployment's default: 1,769 MB are one vCPU (AWS Lambda Developer Guide). */
const functionCpu = 256 / 1_769;

/** The sockets of a process, as in shared/core/socket-budget.ts. */
const processSockets = 700;

const large: Setting = {
  name: 'large',
  targets: largeTargets,
  registrationMs: 90_000,
  workers: 6,
  shardsPerWorker: 1,
  syncs: 6,
  capacity: { cpu: functionCpu, sockets: processSockets },
  // One shard mostly; at the smaller capacities two or four.
  capacityFactors: [0.2, 0.4, 1, 1, 1],
  mode: 'auto',
  looksAfterMs: [40_000, 200_000],
  functions: true,
  cpu: { vcpus: functionCpu },
};

/** As deployed, with so few targets that an hour costs seconds. */
const functions: Setting = { ...large, name: 'functions', targets: largeTargets.slice(0, 60) };

const tick: Setting = { ...large, name: 'tick', targets: tickTargets, mode: 'tick' };

/** One shard with more targets than a process has sockets. */
const crowded: Setting = {
  ...small,
  name: 'crowded',
  // A worker that waits for a socket takes up another container only once it has one.
  restartsNone: true,
  targets: crowdedTargets,
  workers: 3,
  capacity: { cpu: 100, sockets: 100_000 },
  capacityFactors: [1],
};

/** One shard, most of whose targets fail at the same moment. */
const site: Setting = {
  ...small,
  name: 'site',
  targets: siteTargets,
  sharesFate: isAtSite,
  workers: 3,
  capacity: { cpu: 100, sockets: 100_000 },
  capacityFactors: [1],
};

export const settings: Readonly<Record<WorldName, Setting>> = { small, watched, functions, tick, large, crowded, site };

export const worldNames: readonly string[] = Object.keys(settings);

export const isWorldName = (text: string): text is WorldName => worldNames.includes(text);
