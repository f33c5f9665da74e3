/** The parts of a run that its steps share. */
import type { Unheld } from '../core/kubelet/ticker-start.ts';
import type { CommitQueue } from './commit/queue.ts';
import type { HeldTargets } from './held-targets.ts';
import type { Inherited } from './inherited.ts';
import type { AgainPace } from './probing/again-pace.ts';
import type { HeldProbe, HeldTarget } from './probing/held.ts';
import type { Publisher } from './probing/publisher.ts';
import type { Run } from './run.ts';
import type { SurgeLimit } from './self-check/surge.ts';
import type { SelfWatch } from './self-check/verdict.ts';

export type TakenOver = {
  /** Since when, by wall time, the shard may have gone unprobed. */
  readonly unheld: Unheld;
  readonly inherited: Inherited;
};

export type Holder = {
  readonly run: Run;
  readonly commits: CommitQueue;
  readonly publisher: Publisher;
  readonly againPace: Pick<AgainPace, keyof AgainPace>;
  readonly self: SelfWatch;
  readonly surgeLimit: SurgeLimit;
  /** Publishes a surge that the bus has not taken yet. */
  publishSurge(): void;
  /** Set while the shard is being taken over; undefined once its loop runs. */
  takenOver: TakenOver | undefined;
  /** Keyed by the prefix of the target's keys. */
  readonly targets: HeldTargets;
  /** Schedules the probe for the next tick of its ticker, unless the probe is in flight. */
  schedule(held: HeldTarget, probe: HeldProbe): void;
  /** Makes the timekeeper look at the target at `dueMs`. */
  scheduleTarget(held: HeldTarget, dueMs: number): void;
  /** Reads these targets of one bucket again and adopts what others have written. */
  reread(held: readonly HeldTarget[]): Promise<void>;
  /**
   * Called when something else has changed what only the holder writes. Discards the target's state in memory and reads
   * the target again.
   */
  reload(held: HeldTarget): Promise<void>;
};
