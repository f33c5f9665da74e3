/** A run as its host sees it, for the metrics. */
import type { Poison } from '../store/records/items.ts';
import { hashRangeOf, type TargetAddress } from '../store/records/keys.ts';
import type { BeatState, Beats } from './beat.ts';
import type { Holder } from './holder.ts';
import type { Loader } from './load.ts';
import type { Loop } from './probing/due-loop.ts';
import type { HeldTarget } from './probing/held.ts';
import { quarantinedProbes } from './probing/hung-probe.ts';
import type { LatenessCounts } from './probing/lateness.ts';
import { readingsOf, type TargetReading } from './readings.ts';

export type RunView = {
  readonly shard: string;
  /** Of its targets. */
  readonly hashRange: string;
  readonly token: number;
  readonly targets: number;
  readonly probes: number;
  readonly inFlight: number;
  /** How late the probes of this run have begun. */
  readonly lateness: LatenessCounts;
  /** Failures that this run has found and that did not count: void, or held back by the surge limit. */
  readonly uncounted: { readonly void: number; readonly heldBack: number };
  /** What the next beat will report. */
  readonly beat: BeatState;
  /** Time since the last successful beat began. */
  readonly beatAgeMs: number;
  /** For how long the status has not taken in the oldest change that this run knows of; 0: it has taken in all. */
  readonly statusBehindMs: number;
  readonly quarantined: readonly Poison[];
  /** Reads this target again, if it is held: its deletion has effect before it is answered. */
  reread(address: TargetAddress): Promise<void>;
  /** Reads each held target when the iterator reaches it. */
  readings(): Iterable<TargetReading>;
};

type Viewed = { readonly holder: Holder; readonly loop: Loop; readonly loader: Loader; readonly beats: Beats };

export function viewOf({ holder, loop, loader, beats }: Viewed): RunView {
  const held = [...holder.targets.values()];
  const { ports, message, token, confirmedAtMs } = holder.run;
  return {
    shard: message.shard,
    hashRange: hashRangeOf(message.buckets),
    token,
    targets: held.length,
    probes: held.reduce((count, { probes }) => count + probes.size, 0),
    inFlight: loop.inFlight(),
    lateness: loop.lateness(),
    uncounted: { void: holder.self.voidFailures(), heldBack: holder.surgeLimit.heldBack() },
    beat: beats.observe(),
    beatAgeMs: ports.clock.monotonicMs() - confirmedAtMs(),
    statusBehindMs: statusBehindMs(held, ports.clock.monotonicMs()),
    quarantined: [...loader.quarantined(), ...held.flatMap(quarantinedProbes)],
    async reread({ prefix }) {
      const known = holder.targets.get(prefix);
      if (known) await holder.reread([known]);
    },
    readings: () => readingsOf(holder),
  };
}

function statusBehindMs(held: readonly HeldTarget[], monotonicMs: number): number {
  let longestMs = 0;
  for (const { unacked } of held)
    for (const { sinceMs } of unacked.values()) longestMs = Math.max(longestMs, monotonicMs - sinceMs);
  return longestMs;
}
