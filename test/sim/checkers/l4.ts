/**
 * L4: between two probes of a worker lies at most the period and 25 s after one crash, and 5 s where nothing went wrong, a planned hand-over
 * included. A new target's second probe comes when its phase says, and what was triggered is off its phase until the next load (record 17).
 */
import type { Endpoint } from '../network.ts';
import { aftermathMs, type Checker, lockAftermathMs, type ProbeStart } from './checker.ts';

const crashMs = 25_000;
const plannedMs = 5_000;

/** A disturbance triggers a probe within this: two looks at the change counters, the first of which may be behind, and the reload. */
const triggerMs = 3_500;

type Last = {
  readonly start: ProbeStart;
  /** When the probe before it began, and the first one of its process, which takes its tickers from run to run. */
  readonly earlierMs: number;
  readonly firstMs: number;
};

export const l4: Checker = ({ ledger, faults }, violated) => {
  const last = new Map<Endpoint, Last>();

  /** The one before it, and whether the worker was on its phase and only that all the while. */
  const follow = (start: ProbeStart) => {
    const before = last.get(start.endpoint);
    const isSame = before !== undefined && lifeOf(before.start) === lifeOf(start);
    const firstMs = isSame ? before.firstMs : start.startMs;
    last.set(start.endpoint, { start, earlierMs: before?.start.startMs ?? Number.NEGATIVE_INFINITY, firstMs });
    const probed = ledger.probedAt(start.endpoint);
    if (!before || !probed) return undefined;
    const isSameRun = before.start.prober === start.prober;
    const sinceMs = isSameRun ? before.earlierMs : Math.min(before.firstMs, before.earlierMs);
    return ledger.disturbedMs(probed.uid) >= sinceMs - triggerMs
      ? undefined
      : { beganMs: before.start.startMs, probed };
  };

  return {
    probeStarted(start) {
      const before = follow(start);
      if (!before) return;
      const { beganMs, probed } = before;
      const periodMs = probed.probe.probe.periodSeconds * 1000;
      const gapMs = start.startMs - beganMs;
      if (gapMs <= periodMs + plannedMs) return;
      if (faults.lockedMs() > start.startMs - lockAftermathMs) return;
      // A copy of a message fences a holder without a hand-over, be it long after the copy was made: what was off its phase is not known.
      if (faults.doubledMs() >= beganMs) return;
      const [only, ...more] = faults.during(beganMs - periodMs - aftermathMs, start.startMs);
      const what = `${start.endpoint} was not probed for ${gapMs} ms of ${periodMs}, until ${start.prober}`;
      if (!only) return violated(what);
      if (more.length > 0 || only.kind !== 'crash' || gapMs <= periodMs + crashMs) return;
      violated(`${what}, after a crash of ${only.process} at ${only.timeMs}`);
    },
  };
};

const lifeOf = ({ prober }: ProbeStart): string => prober.slice(0, prober.indexOf('/'));
