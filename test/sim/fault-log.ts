/** The faults of the last while, for checkers whose rule depends on how many there were. */
import type { DoneFault, FaultKind, Faults } from './faults.ts';

export type FaultLog = {
  /** Those whose effect touches this time, of this process or of all; `undefined`: of any. */
  during(fromMs: number, toMs: number, process?: string): readonly DoneFault[];
  /** Since when nothing goes wrong any more; undefined: it storms. */
  calmSinceMs(): number | undefined;
  /** When a message group was last locked by somebody who had died before the first heartbeat: a new layout may put any shard behind it. */
  lockedMs(): number;
};

const keptMs = 1_800_000;

/** What happens in good health, too. */
const planned: ReadonlySet<FaultKind> = new Set(['layout change', 'release change', 'forged event']);

export function faultLog(faults: Faults, lockedMs: () => number): FaultLog {
  let done: DoneFault[] = [];
  faults.onDone((fault) => {
    if (planned.has(fault.kind)) return;
    if (done.length > 10_000) done = done.filter(({ untilMs }) => untilMs > fault.timeMs - keptMs);
    done.push(fault);
  });
  return {
    during(fromMs, toMs, process) {
      const found: DoneFault[] = [];
      for (let at = done.length - 1; at >= 0; at -= 1) {
        const fault = done[at];
        if (!fault || fault.timeMs < fromMs - keptMs / 3) break;
        const touches = fault.timeMs <= toMs && fault.untilMs >= fromMs;
        if (touches && (process === undefined || (fault.process ?? process) === process)) found.push(fault);
      }
      return found;
    },
    calmSinceMs: faults.calmSinceMs,
    lockedMs,
  };
}

/** Of a run or a life, the process. */
export const processOf = (name: string): string => name.slice(0, name.indexOf('.'));
