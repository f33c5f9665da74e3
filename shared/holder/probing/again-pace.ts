/**
 * How fast a holder publishes again what is open, counted in targets. Where nothing is acked, this bounds what the bus
 * and status-sync have to carry besides what is new, as kubelet bounds its requests (`kubeAPIQPS`, `kubeAPIBurst`).
 * What is not acked in time makes repeats rarer, since they would keep status-sync from the rest. What is acked makes
 * them more frequent again.
 */
import type { Clock } from '../../lib/clock.ts';
import type { HeldTarget } from './worker.ts';

/** Ten thousand targets, the most of one shard, have their turn within 50 s. */
const perSecondMax = 200;
const perSecondMin = 10;
/** So many that become due at once do not wait. */
export const atOnceMax = 200;

const everyMsMin = 1_000 / perSecondMax;
const everyMsMax = 1_000 / perSecondMin;
/** The time between two of them is multiplied by this after each change that is not acked in time, or acked. */
const notAckedFactor = 1.05;
const ackedFactor = 0.9;

/** A target that waits asks so often whether its turn comes sooner than it seemed. */
const waitMsMax = 5_000;

export class AgainPace {
  readonly #clock: Clock;
  #everyMs = everyMsMin;
  /** Tickets given out, and how many of them may be used by now. */
  #given = 0;
  #allowed = atOnceMax;
  /** Monotonic: when `#allowed` was counted. */
  #countedMs = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** How long this target has to wait, at most until it asks again, ms. It keeps its ticket until that is cleared. */
  waitMs(held: Pick<HeldTarget, 'ticket'>): number {
    this.#count();
    if (held.ticket === undefined) {
      this.#given += 1;
      held.ticket = this.#given;
    }
    const before = Math.max(0, held.ticket - this.#allowed);
    return Math.min(waitMsMax, Math.ceil(before * this.#everyMs));
  }

  /** Of a change that was published: whether it is acked, or was not in time. */
  found(isAcked: boolean): void {
    this.#count();
    const everyMs = this.#everyMs * (isAcked ? ackedFactor : notAckedFactor);
    this.#everyMs = Math.min(everyMsMax, Math.max(everyMsMin, everyMs));
  }

  #count(): void {
    const nowMs = this.#clock.monotonicMs();
    const allowed = this.#allowed + (nowMs - this.#countedMs) / this.#everyMs;
    this.#allowed = Math.min(allowed, this.#given + atOnceMax);
    this.#countedMs = nowMs;
  }
}
