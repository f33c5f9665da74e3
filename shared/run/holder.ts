/** The parts of a run that its steps share. */
import type { CommitQueue } from './commit/queue.ts';
import type { Inherited } from './inherited.ts';
import type { HeldProbe, HeldTarget } from './probing/held-target.ts';
import type { Publisher } from './probing/publisher.ts';
import type { Run } from './run.ts';
import type { SurgeLimit } from './self-check/surge.ts';
import type { SelfWatch } from './self-check/verdict.ts';

export type TakenOver = {
  /** Since then (wall time) nobody may have probed the shard. */
  readonly unheldSinceMs: number;
  readonly inherited: Inherited;
};

export type Holder = {
  readonly run: Run;
  readonly commits: CommitQueue;
  readonly publisher: Publisher;
  readonly self: SelfWatch;
  readonly surgeLimit: SurgeLimit;
  /** Publishes a surge that the bus has not taken yet. */
  publishSurge(): void;
  /** While a shard is taken over; undefined: its loop runs. */
  takenOver: TakenOver | undefined;
  /** By the prefix of their keys. */
  readonly targets: Map<string, HeldTarget>;
  /** Puts the probe where its ticker says, unless it is in flight. */
  schedule(held: HeldTarget, probe: HeldProbe): void;
  /** The timekeeper looks at the target then. */
  scheduleTarget(held: HeldTarget, dueMs: number): void;
  /** Reads these targets of one bucket again and takes in what others wrote. */
  reread(held: readonly HeldTarget[]): Promise<void>;
  /** Something else has changed what only the holder writes: forgets what is in memory and reads again. */
  reload(held: HeldTarget): Promise<void>;
};
