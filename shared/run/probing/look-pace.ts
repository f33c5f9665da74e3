/**
 * How fast a holder looks at targets with something open. A look may publish again what STATUS has not acked, so where
 * nothing is acked this bounds what the bus and status-sync have to carry besides what is new. kubelet bounds its
 * requests in the same way (`kubeAPIQPS`, `kubeAPIBurst`).
 */
import type { Clock } from '../../lib/clock.ts';
import type { HeldTarget } from './held-target.ts';

/** Ten thousand targets, the most of one shard, are looked at within 50 s. */
export const looksPerSecondMax = 200;
/** So many that become due at once are looked at without a wait. */
export const looksAtOnceMax = 200;

const everyMs = 1_000 / looksPerSecondMax;

export class LookPace {
  readonly #clock: Clock;
  /** Monotonic: when the next look would be due if all had kept `everyMs` apart. */
  #nextMs = Number.NEGATIVE_INFINITY;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** How long this target has to wait for its look, ms. It keeps its place until `lookAtMs` is cleared. */
  waitMs(held: Pick<HeldTarget, 'lookAtMs'>): number {
    const nowMs = this.#clock.monotonicMs();
    if (held.lookAtMs === undefined) {
      const nextMs = Math.max(this.#nextMs, nowMs - (looksAtOnceMax - 1) * everyMs);
      this.#nextMs = nextMs + everyMs;
      held.lookAtMs = nextMs;
    }
    return Math.max(0, held.lookAtMs - nowMs);
  }
}
