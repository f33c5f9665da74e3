/** The figures of a run. */
import type { Facts, Watch } from './checkers/checker.ts';
import { resultOf, verdictOf } from './checkers/verdicts.ts';
import type { DoneFault } from './faults.ts';
import { type Histogram, newHistogram, record } from './histogram.ts';
import type { Probed } from './ledger.ts';
import type { Endpoint, ProbeStart } from './network.ts';
import { keyKind } from './store.ts';
import type { Change } from './table.ts';

/** Delays within an outage of the store show its length; the others show the effect of all other faults. */
export type Delays = { readonly inOutage: Histogram; readonly otherwise: Histogram };

export type Measured = {
  readonly probes: number;
  readonly commits: number;
  /** How much more than a period passed between two probes, whichever process made them. */
  readonly gaps: Delays;
  /** From the time by which the threshold's last probe should have ended to the commit. */
  readonly detections: Delays;
  /** Probes that began less than half a period after another process's. */
  readonly duplicates: number;
};

export function measure(facts: Facts): { readonly watch: Watch; readonly measured: () => Measured } {
  const { ledger } = facts;
  const last = new Map<Endpoint, ProbeStart>();
  /** When the target was last disturbed, read as each probe ends: the commit that follows is a disturbance too. */
  const disturbed = new Map<Endpoint, number>();
  const outages: DoneFault[] = [];
  const [gaps, detections] = [newDelays(), newDelays()];
  let probes = 0;
  let commits = 0;
  let duplicates = 0;

  const add = (delays: Delays, ms: number, fromMs: number) => {
    const isInOutage = outages.some((outage) => outage.untilMs >= fromMs && outage.timeMs <= facts.nowMs());
    record(isInOutage ? delays.inOutage : delays.otherwise, Math.max(0, ms));
  };
  const detect = (change: Change) => {
    const verdict = verdictOf(facts, change);
    const disturbedMs = verdict && disturbed.get(verdict.endpoint);
    const probed = verdict && ledger.probedAt(verdict.endpoint);
    const truth = verdict && facts.network.truths().get(verdict.endpoint);
    if (!truth || !probed || disturbedMs === undefined || verdict.before.result === verdict.after.result) return;
    const result = resultOf(truth.health);
    if (!result || result !== verdict.after.result) return;
    const fromMs = Math.max(truth.sinceMs, disturbedMs);
    add(detections, facts.nowMs() - fromMs - thresholdMs(probed, result), fromMs);
  };

  const watch: Watch = {
    faultDone: (fault) => void (fault.kind === 'store outage' && outages.push(fault)),
    applied({ changes }) {
      for (const change of changes) {
        if (keyKind(change.key) !== 'PROBE' || !change.before || !change.after) continue;
        commits += 1;
        detect(change);
      }
    },
    probeStarted(start) {
      probes += 1;
      const before = last.get(start.endpoint);
      last.set(start.endpoint, start);
      const probed = ledger.probedAt(start.endpoint);
      if (!before || !probed) return;
      const periodMs = probed.probe.probe.periodSeconds * 1000;
      const gapMs = start.startMs - before.startMs;
      if (before.prober !== start.prober && gapMs < periodMs / 2) duplicates += 1;
      if (ledger.disturbedMs(probed.uid) < before.startMs) add(gaps, gapMs - periodMs, before.startMs);
    },
    probeSeen({ endpoint }) {
      const probed = ledger.probedAt(endpoint);
      if (probed) disturbed.set(endpoint, ledger.disturbedMs(probed.uid));
    },
  };
  return { watch, measured: () => ({ probes, commits, duplicates, gaps, detections }) };
}

/** The figures of a simulation that measured nothing. */
export const newMeasured = (): Measured => ({
  probes: 0,
  commits: 0,
  duplicates: 0,
  gaps: newDelays(),
  detections: newDelays(),
});

const newDelays = (): Delays => ({ inOutage: newHistogram(), otherwise: newHistogram() });

/** The longest time that a threshold takes: the truth turns right after a probe began, and the last one times out. */
function thresholdMs({ probe: { probe } }: Probed, result: 'success' | 'failure'): number {
  const threshold = result === 'failure' ? probe.failureThreshold : probe.successThreshold;
  return (threshold * probe.periodSeconds + probe.timeoutSeconds) * 1000;
}
