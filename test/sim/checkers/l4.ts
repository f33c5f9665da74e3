/**
 * L4: between two probes of a worker lies at most the period and 25 s after one crash, and 5 s without faults,
 * hand-overs included. The second probe of a new target follows its phase, and a trigger leaves the phase until the
 * next load (record 17).
 */
import type { DoneFault } from '../faults.ts';
import type { Probed } from '../ledger.ts';
import type { Endpoint, ProbeStart } from '../network.ts';
import { aftermathMs, type Checker, type Facts, lockAftermathMs, readAllMs } from './checker.ts';
import { isTick, spacingMs, tickSlotMs } from './tick.ts';
import { touchedMs } from './touched.ts';

const crashMs = 25_000;
const plannedMs = 5_000;
/** At the end of a slot commits have so long while the table has no capacity for them (record 85). */
const lastCommitsMs = 10_000;

/**
 * A disturbance triggers a probe within this: two looks at the change counters, of which one may be stale, and a
 * reload.
 */
const triggerMs = 3_500;

/** Between two attempts of one probe, the shortest period being a second. */
const attemptMs = 900;

/** Until all holders of the previous layout have left. */
const leavingMs = 10_000;

type Last = {
  readonly start: ProbeStart;
  /** When the probe before it began, and the first one of its process, which takes its tickers from run to run. */
  readonly earlierMs: number;
  readonly firstMs: number;
};

type Gap = { readonly beganMs: number; readonly mayBeOffPhase: boolean };

export const l4: Checker = (facts, violated) => {
  const { ledger, faults, calls, nowMs } = facts;
  const last = new Map<Endpoint, Last>();
  let throttled = { calls: 0, seenMs: Number.NEGATIVE_INFINITY };

  const lookForThrottles = (): void => {
    if (calls.throttled > throttled.calls) throttled = { calls: calls.throttled, seenMs: nowMs() };
  };
  /** What a planned hand-over may take, of which the table may have had no capacity for a while. */
  const handoverMs = (beganMs: number): number => plannedMs + (throttled.seenMs >= beganMs ? lastCommitsMs : 0);

  /** The one before it, unless something has disturbed the worker since the one before that. */
  const follow = (start: ProbeStart) => {
    const before = last.get(start.endpoint);
    // kubelet's attempts after a prober error are of one probe.
    const isAttempt = before?.start.prober === start.prober && start.startMs - before.start.startMs < attemptMs;
    if (before && isAttempt) return void last.set(start.endpoint, { ...before, start });
    const isSame = before !== undefined && lifeOf(before.start) === lifeOf(start);
    const firstMs = isSame ? before.firstMs : start.startMs;
    last.set(start.endpoint, { start, earlierMs: before?.start.startMs ?? Number.NEGATIVE_INFINITY, firstMs });
    const probed = ledger.probedAt(start.endpoint);
    if (!before || !probed) return undefined;
    const isSameRun = before.start.prober === start.prober;
    const disturbedMs = ledger.disturbedMs(probed.uid) + triggerMs;
    if (disturbedMs >= before.earlierMs) return undefined;
    // Off its phase since then, which only a hand-over preserves.
    const mayBeOffPhase = !isSameRun && disturbedMs >= before.firstMs;
    return { beganMs: before.start.startMs, probed, mayBeOffPhase };
  };

  const isExcused = (startMs: number, { beganMs, mayBeOffPhase }: Gap): boolean => {
    if (faults.lockedMs() > startMs - lockAftermathMs) return true;
    // A copy of a message, even an old one, fences a holder without a hand-over, which loses the phase.
    if (faults.doubledMs() >= beganMs) return true;
    // The holder in a new layout may claim a bucket before the old one has written its pending probes (Known
    // weaknesses).
    return mayBeOffPhase && ledger.laidOutMs() >= beganMs - leavingMs;
  };

  return {
    probeStarted(start) {
      lookForThrottles();
      const before = follow(start);
      if (!before) return;
      const { beganMs, probed, mayBeOffPhase } = before;
      const { timeoutSeconds, periodSeconds } = probed.probe.probe;
      // It may hold its socket for longer than its period; what waits for one is shown as stale, which Fresh looks at.
      if (timeoutSeconds > periodSeconds) return;
      const periodMs = spacingMs(facts, probed);
      const loadMs = loadMsOf(facts);
      const gapMs = start.startMs - beganMs;
      if (gapMs <= periodMs + handoverMs(beganMs) + loadMs) return;
      const what = `${start.endpoint} was not probed for ${gapMs} ms of ${periodMs}, until ${start.prober}`;
      const untouchedMs = untouchedOf(facts, { fromMs: beganMs, toMs: start.startMs });
      if (untouchedMs > 2 * periodMs + plannedMs)
        return violated(`${what}, ${untouchedMs} ms of that touched by no fault`);
      if (isExcused(start.startMs, before)) return;
      const [only, ...more] = faults.during(beganMs - periodMs - aftermathMs, start.startMs);
      if (!only) return violated(what);
      if (mayBeOffPhase) return;
      const isOneCrash = more.length === 0 && only.kind === 'crash';
      if (isOneCrash && gapMs > periodMs + crashMs + loadMs + lostSlotMs(facts, probed, only))
        violated(`${what}, after a crash of ${only.process} at ${only.timeMs}`);
    },
  };
};

/** Where computing takes time, the load of 2,000 targets has no derived bound, so all time counts as touched. */
function untouchedOf(facts: Facts, span: { readonly fromMs: number; readonly toMs: number }): number {
  return facts.computingTakesTime ? 0 : span.toMs - span.fromMs - touchedMs(facts, span);
}

/** In tick mode a slot has one message, so a schedule that crashes before it has sent it costs the slot. */
const lostSlotMs = (facts: Facts, { address }: Probed, { process }: DoneFault): number =>
  process?.startsWith('schedule') && isTick(facts, address) ? tickSlotMs : 0;

const loadMsOf = ({ computingTakesTime }: Facts): number => (computingTakesTime ? readAllMs : 0);

const lifeOf = ({ prober }: ProbeStart): string => prober.slice(0, prober.indexOf('/'));
