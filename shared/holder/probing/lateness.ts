/** How late the probes of a run begin, and whether that is an overload. Counting a begin allocates nothing. */
import { afterLook, type Look, lateAfterMs, loadState, type Overload } from '../../core/self/overload.ts';
import type { Clock } from '../../lib/clock.ts';

/** Upper bounds of the histogram, in ms. */
const boundsMs = [10, 100, 500, lateAfterMs, 2_500, 5_000, 10_000, 30_000, 60_000] as const;

/** Less than the pause between two beats, each of which looks. */
const lookIntervalMs = 4_000;

/** A histogram as Prometheus has it: `count` of the begins that were at most `leMs` late, all begins, their sum. */
export type LatenessCounts = {
  readonly buckets: readonly { readonly leMs: number; readonly count: number }[];
  readonly count: number;
  readonly sumMs: number;
};

export class Lateness {
  readonly #clock: Clock;
  /** By bound; begins that were later than the last one are in `#count` only. */
  readonly #buckets: number[] = boundsMs.map(() => 0);
  #count = 0;
  #sumMs = 0;
  /** Since the last look. */
  #begun = 0;
  #late = 0;
  #lookedAtMs: number;
  #state = loadState();

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#lookedAtMs = clock.monotonicMs();
  }

  /** The run before was overloaded, and subscribers may know that. */
  inherit(): void {
    this.#state = loadState({ reason: 'Cpu', sinceMs: this.#clock.nowMs() });
  }

  /** A probe begins, so long after it was due. */
  began(afterMs: number): void {
    const lateMs = Math.max(0, Math.round(afterMs));
    this.#count += 1;
    this.#sumMs += lateMs;
    this.#begun += 1;
    if (lateMs > lateAfterMs) this.#late += 1;
    for (let at = 0; at < boundsMs.length; at += 1) {
      if (lateMs > (boundsMs[at] ?? 0)) continue;
      this.#buckets[at] = (this.#buckets[at] ?? 0) + 1;
      return;
    }
  }

  /** The present overload. Looks again if the last look is an interval old. */
  overload(situation: () => Pick<Look, 'isLateNow' | 'reason'>): Overload | undefined {
    const nowMs = this.#clock.monotonicMs();
    if (nowMs - this.#lookedAtMs >= lookIntervalMs) {
      const look = { begun: this.#begun, late: this.#late, ...situation() };
      this.#state = afterLook(this.#state, look, this.#clock.nowMs());
      this.#begun = 0;
      this.#late = 0;
      this.#lookedAtMs = nowMs;
    }
    return this.#state.overload;
  }

  counts(): LatenessCounts {
    let count = 0;
    const buckets = boundsMs.map((leMs, at) => {
      count += this.#buckets[at] ?? 0;
      return { leMs, count };
    });
    return { buckets, count: this.#count, sumMs: this.#sumMs };
  }
}
