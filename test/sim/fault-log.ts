/** The recent faults, for checkers whose rule depends on them. */
import type { DoneFault, FaultKind, Faults } from './faults.ts';

export type Span = { readonly fromMs: number; readonly toMs: number };

/** `wasHeld`: by a process that may hold the shard still. */
export type Lock = Span & { readonly wasHeld: boolean };

export type FaultLog = {
  /** Faults that touch this time, of this process or of all; `undefined`: of any. */
  during(fromMs: number, toMs: number, process?: string): readonly DoneFault[];
  /** Since when no faults happen; undefined: it storms. */
  calmSinceMs(): number | undefined;
  /**
   * When a group was last locked by a process that died before its first heartbeat; a new layout may put any shard
   * there.
   */
  lockedMs(): number;
  /** The recent spans of such locks, from their begin to when they were last seen, 10 s apart. */
  locks(): readonly Lock[];
  /** When the queue last delivered a message of a group beside another one in flight. */
  doubledMs(): number;
};

const keptMs = 1_800_000;
/** Longer ones, an outage of hours, are kept apart, so that the others are found without looking at all. */
const longMs = keptMs / 3;

/** What happens in good health, too. */
const planned: ReadonlySet<FaultKind> = new Set(['layout change', 'release change', 'forged event']);

export function faultLog(faults: Faults, queue: Pick<FaultLog, 'lockedMs' | 'locks' | 'doubledMs'>): FaultLog {
  let done: DoneFault[] = [];
  const long: DoneFault[] = [];
  faults.onDone((fault) => {
    if (planned.has(fault.kind)) return;
    if (fault.untilMs - fault.timeMs > longMs) return void long.push(fault);
    if (done.length > 10_000) done = done.filter(({ untilMs }) => untilMs > fault.timeMs - keptMs);
    done.push(fault);
  });
  return {
    during(fromMs, toMs, process) {
      const touches = ({ timeMs, untilMs, process: its }: DoneFault) =>
        timeMs <= toMs && untilMs >= fromMs && (process === undefined || (its ?? process) === process);
      const found = long.filter(touches);
      for (let at = done.length - 1; at >= 0; at -= 1) {
        const fault = done[at];
        if (!fault || fault.timeMs < fromMs - longMs) break;
        if (touches(fault)) found.push(fault);
      }
      return found;
    },
    calmSinceMs: faults.calmSinceMs,
    lockedMs: queue.lockedMs,
    locks: queue.locks,
    doubledMs: queue.doubledMs,
  };
}

/** Of a run or a life, the process. */
export const processOf = (name: string): string => name.slice(0, name.indexOf('.'));
