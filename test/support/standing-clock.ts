/** A virtual clock whose process can stand still: time passes and no timer runs, as when it is stopped or frozen. */
import { type VirtualClock, virtualClock } from './virtual-clock.ts';

export type StandingClock = VirtualClock & {
  /** So much time passes at once; every timer that is set runs so much later. */
  stand(ms: number): void;
  /** Wall time alone moves, as when somebody sets the clock. */
  jump(ms: number): void;
};

export function standingClock(): StandingClock {
  const clock = virtualClock();
  let stoodMs = 0;
  let jumpedMs = 0;
  return {
    ...clock,
    nowMs: () => clock.nowMs() + stoodMs + jumpedMs,
    monotonicMs: () => clock.monotonicMs() + stoodMs,
    stand(ms) {
      stoodMs += ms;
    },
    jump(ms) {
      jumpedMs += ms;
    },
  };
}
