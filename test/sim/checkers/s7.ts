/**
 * S7: a worker never has two probes in flight, and begins them at least 0.9 periods apart, except for triggers and
 * retries after a prober error. Ticks keep their phase: after a late probe the next one comes sooner by as much, except
 * after the first one of a run.
 */

import { processOf } from '../fault-log.ts';
import type { Probed } from '../ledger.ts';
import type { Endpoint, ProbeStart, SeenProbe } from '../network.ts';
import type { Checker } from './checker.ts';

type Last = {
  readonly start: ProbeStart;
  /** When its probe began: an attempt after a prober error is the same probe's. */
  readonly beganMs: number;
  readonly seen: SeenProbe | undefined;
  /** When the one before began; undefined: it is the first of its run. */
  readonly earlierMs: number | undefined;
  /** How long after its tick it began, had the first one of the run begun with its own. */
  readonly lateMs: number;
  /** When the last ones began, but for the first of the run, oldest first. */
  readonly begins: readonly number[];
};

const gapMin = 0.9;

/**
 * Where computing takes time every tick may be late by up to a period, which is invisible from outside. Of four in a
 * row the last is then two periods after the first.
 */
const inARow = 4;
const inARowPeriodsMin = 2;

export const s7: Checker = (facts, violated) => {
  const { ledger, faults, computingTakesTime } = facts;
  const last = new Map<string, Last>();
  const nameOf = ({ prober, endpoint }: { prober: string; endpoint: Endpoint }) => `${prober} ${endpoint}`;

  /** Whether a probe that came soon after the last one is allowed. */
  const isExpected = (before: Last, now: Last, probed: Probed): boolean => {
    const periodMs = probed.probe.probe.periodSeconds * 1000;
    const gapMs = now.beganMs - before.beganMs;
    if (gapMs >= gapMin * periodMs) return true;
    const overdueMs = before.earlierMs === undefined ? 0 : before.beganMs - before.earlierMs - periodMs;
    if (gapMs + Math.max(before.lateMs, overdueMs) >= gapMin * periodMs) return true;
    if (computingTakesTime && !isTooOften(now.begins, periodMs)) return true;
    const sinceMs = (before.earlierMs ?? before.beganMs) - 2 * periodMs;
    if (Math.max(ledger.disturbedMs(probed.uid), ledger.probeWrittenMs(probed)) >= sinceMs) return true;
    return faults.during(sinceMs, now.beganMs, processOf(now.start.prober)).length > 0;
  };

  return {
    probeStarted(start) {
      const name = nameOf(start);
      const before = last.get(name);
      const probed = ledger.probedAt(start.endpoint);
      const periodMs = (probed?.probe.probe.periodSeconds ?? 0) * 1000;
      if (before && probed && !before.seen) violated(`${name} has two probes in flight`);
      const isRetry = before?.seen?.outcome === 'error' && start.startMs - before.beganMs < gapMin * periodMs;
      const now = isRetry
        ? { ...before, start, seen: undefined, earlierMs: before.start.startMs }
        : next(before, start, periodMs);
      last.set(name, now);
      if (!before || !probed || isRetry || isExpected(before, now, probed)) return;
      violated(`${name} was probed again after ${now.beganMs - before.beganMs} ms of ${periodMs}`);
    },
    probeSeen(seen) {
      const name = nameOf(seen);
      const before = last.get(name);
      if (before) last.set(name, { ...before, seen });
    },
  };
};

function next(before: Last | undefined, start: ProbeStart, periodMs: number): Last {
  const beganMs = start.startMs;
  return {
    start,
    beganMs,
    seen: undefined,
    earlierMs: before?.start.startMs,
    lateMs: latenessMs(before, beganMs - (before?.beganMs ?? beganMs), periodMs),
    begins: before ? [...before.begins.slice(1 - inARow), beganMs] : [],
  };
}

/** At most one tick is held while a probe runs or waits; others are lost, and the phase stays. */
function latenessMs(before: Last | undefined, gapMs: number, periodMs: number): number {
  return before && periodMs > 0 ? Math.max(0, before.lateMs + gapMs - periodMs) % periodMs : 0;
}

const isTooOften = (begins: readonly number[], periodMs: number): boolean =>
  begins.length === inARow && (begins.at(-1) ?? 0) - (begins[0] ?? 0) < gapMin * inARowPeriodsMin * periodMs;
