/**
 * How a release reaches the shards: one shard tries it first, and the others follow once a run of it has probed there.
 * A release that cannot start would otherwise be handed every shard within two minutes. Pure.
 */
import type { LayoutShard } from './layout.ts';

/** What LAYOUT says of releases. Every run follows it (shared/holder/layout-follower.ts). */
export type Rollout = {
  /** The release that should run; empty: any. */
  readonly desiredRelease: string;
  /** The only shard that follows for now. Absent: every shard follows. */
  readonly trial?: Trial;
  /**
   * The last release whose trial has failed. It is not tried again before another one is wanted, and forgotten once
   * every shard has it all the same.
   */
  readonly refused?: string;
};

export type Trial = { readonly shard: string; readonly sinceMs: number };

/** RUN of a shard, as far as it shows whether a release works. */
export type Shown = {
  readonly release?: string;
  readonly beat: number;
  readonly beganAtMs?: number;
  readonly observedAtMs: number;
  readonly degraded: boolean;
};

/**
 * How long a shard may try a release. A run leaves 45 s after it began at the earliest; its successor claims, probes
 * and beats twice within 20 s. In tick mode it is the next slot's run that tries it.
 */
const trialMsMax = { resident: 110_000, tick: 170_000 } as const;

export type RolloutContext = {
  /** The release of the schedule's own code; empty: any release may run. */
  readonly wanted: string;
  readonly shards: readonly LayoutShard[];
  readonly runOf: (shard: string) => Shown | undefined;
  readonly nowMs: number;
};

/** What LAYOUT has to say from now on; the same object if nothing changes. */
export function nextRollout(rollout: Rollout, context: RolloutContext): Rollout {
  const { wanted, shards, runOf, nowMs } = context;
  const { desiredRelease, trial, refused } = rollout;
  if (wanted === '') return desiredRelease === '' && refused === undefined ? rollout : { desiredRelease: '' };
  if (wanted === refused) return isEverywhere(wanted, context) ? { desiredRelease: wanted } : rollout;
  if (wanted !== desiredRelease) return begun(wanted, refused, context);
  if (!trial) return rollout;
  const shard = shards.find((each) => each.shard === trial.shard);
  // Divided or merged meanwhile, or without targets: another one tries it.
  if (!shard || shard.mode === 'idle') return begun(wanted, refused, context);
  if (hasProved(runOf(trial.shard), wanted)) return followed(wanted, refused);
  return nowMs - trial.sinceMs > trialMsMax[shard.mode] ? { desiredRelease: '', refused: wanted } : rollout;
}

/** It has proved itself all the same: where a run ends with its slot, the next one is of the new code in any case. */
const isEverywhere = (wanted: string, { shards, runOf }: RolloutContext): boolean =>
  shards.every(({ shard, mode }) => mode === 'idle' || hasProved(runOf(shard), wanted));

/** A trial, unless no run of another release holds a shard: then there is nothing to be careful with. */
function begun(wanted: string, refused: string | undefined, { shards, runOf, nowMs }: RolloutContext): Rollout {
  const active = shards.filter(({ mode }) => mode !== 'idle');
  const others = active.filter(({ shard }) => {
    const run = runOf(shard);
    return run !== undefined && run.release !== wanted;
  });
  const first = others.find(({ mode }) => mode === 'resident') ?? others[0];
  if (!first) return followed(wanted, refused);
  return { ...followed(wanted, refused), trial: { shard: first.shard, sinceMs: nowMs } };
}

const followed = (desiredRelease: string, refused: string | undefined): Rollout => ({
  desiredRelease,
  ...(refused !== undefined && { refused }),
});

/** A run of this release has beaten, and has since it began completed every probe that was due. */
const hasProved = (run: Shown | undefined, release: string): boolean =>
  run?.release === release && run.beat !== 0 && !run.degraded && run.observedAtMs > (run.beganAtMs ?? run.observedAtMs);
