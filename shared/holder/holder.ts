/** A run as its parts see it: what they share, and how a target is read again. */
import type { Unheld } from '../core/kubelet/ticker.ts';
import type { HeldTargets } from './held-targets.ts';
import type { Inherited } from './inherited.ts';
import type { AgainPace } from './probing/again-pace.ts';
import type { WorkerHolder } from './probing/worker.ts';

export type TakenOver = {
  /** Since when, by wall time, the shard may have gone unprobed. */
  readonly unheld: Unheld;
  readonly inherited: Inherited;
};

export type Holder = WorkerHolder & {
  readonly targets: HeldTargets;
  readonly againPace: Pick<AgainPace, keyof AgainPace>;
  /** Set while the shard is being taken over; undefined once its loop runs. */
  readonly takenOver: TakenOver | undefined;
  /** Publishes a surge that the bus has not taken yet. */
  publishSurge(): void;
};
