/**
 * What the targets of a bucket require of their holder, computed from their specs alone: a constant load, whatever
 * their health. A process can run out of three things: CPU, descriptors for probes in flight, and memory.
 */
import { cpuMs } from '../spec/handlers.ts';
import { tickPeriodSecondsMin } from '../spec/limits.ts';
import { type Probe, specProbes, type TargetSpec } from '../spec/spec.ts';
import type { ShardMode } from './slots.ts';

export type BucketWeight = {
  readonly targets: number;
  /** Share of one vCPU. */
  readonly cpu: number;
  /** Probes in flight while no target answers, each with its descriptor. */
  readonly sockets: number;
  /** Bytes. */
  readonly memory: number;
  readonly mode: ShardMode;
};

/** Raised with every change below or of the data stored with a weight, so that stored weights are recomputed. */
export const weightFormula = 4;

export const noWeight: BucketWeight = { targets: 0, cpu: 0, sockets: 0, memory: 0, mode: 'idle' };

/**
 * Bytes that a holder keeps for each target and for each probe, and for each character of the spec as JSON: its
 * objects, and the text that the probes were made from. Twice what they are while nothing changes (`npm run
 * bench:memory`): a change is kept with its event and its attempts until its status is written.
 */
export const targetBytes = 10 * 1_024;
export const probeBytes = 10 * 1_024;
const bytesPerCharacter = 4;

/** The registered weight of a bucket with these targets. */
export const weightOf = (specs: readonly TargetSpec[]): BucketWeight => sumOf(specs.map(targetWeight));

export function sumOf(weights: readonly BucketWeight[]): BucketWeight {
  return weights.reduce(
    (sum, weight) => ({
      targets: sum.targets + weight.targets,
      cpu: sum.cpu + weight.cpu,
      sockets: sum.sockets + weight.sockets,
      memory: sum.memory + weight.memory,
      mode: higherMode(sum.mode, weight.mode),
    }),
    noWeight,
  );
}

/** A target without probes needs a holder too, as its timekeeper. */
function targetWeight(spec: TargetSpec): BucketWeight {
  const memory = targetBytes + JSON.stringify(spec).length * bytesPerCharacter;
  const target: BucketWeight = { targets: 1, cpu: 0, sockets: 0, memory, mode: 'tick' };
  return sumOf([target, ...specProbes(spec).map(({ probe }) => probeWeight(probe))]);
}

function probeWeight(probe: Probe): BucketWeight {
  const { periodSeconds, timeoutSeconds } = probe;
  return {
    targets: 0,
    cpu: cpuMs(probe) / 1_000 / periodSeconds,
    // At most one execution of a probe is in flight.
    sockets: Math.min(1, timeoutSeconds / periodSeconds),
    memory: probeBytes,
    mode: periodSeconds < tickPeriodSecondsMin ? 'resident' : 'tick',
  };
}

const modeRank: { readonly [mode in ShardMode]: number } = { idle: 0, tick: 1, resident: 2 };

export const isHigherMode = (mode: ShardMode, than: ShardMode): boolean => modeRank[mode] > modeRank[than];

const higherMode = (one: ShardMode, other: ShardMode): ShardMode => (isHigherMode(one, other) ? one : other);
