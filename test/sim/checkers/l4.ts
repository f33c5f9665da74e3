/** L4: between two probes of a worker lies at most the period and 25 s after one crash, and 5 s where nothing went wrong, a planned hand-over included. */
import type { Endpoint } from '../network.ts';
import type { Checker, ProbeStart } from './checker.ts';

const crashMs = 25_000;
const plannedMs = 5_000;
/** What lies so long before may still be felt. */
const aftermathMs = 60_000;
/** A crash so soon after a run began may have come before its first heartbeat: then the queue's own visibility counts (L5). */
const firstBeatMs = 5_000;

export const l4: Checker = ({ ledger, faults }, violated) => {
  const last = new Map<Endpoint, ProbeStart>();
  const lastRunMs = new Map<string, number>();
  return {
    runStarted: ({ life, timeMs }) => void lastRunMs.set(life.name.slice(0, life.name.lastIndexOf('.')), timeMs),
    probeStarted(start) {
      const { endpoint, startMs } = start;
      const before = last.get(endpoint);
      last.set(endpoint, start);
      const probed = ledger.probedAt(endpoint);
      if (!before || !probed || ledger.disturbedMs(probed.uid) >= before.startMs) return;
      const periodMs = probed.probe.probe.periodSeconds * 1000;
      const gapMs = startMs - before.startMs;
      if (gapMs <= periodMs + plannedMs) return;
      const felt = faults.during(before.startMs - periodMs - aftermathMs, startMs);
      const [only, ...more] = felt;
      const what = `${endpoint} was not probed for ${gapMs} ms of ${periodMs}, until ${start.prober}`;
      if (!only) return violated(what);
      if (more.length > 0 || only.kind !== 'crash' || gapMs <= periodMs + crashMs) return;
      const beganMs = lastRunMs.get(only.process ?? '') ?? Number.NEGATIVE_INFINITY;
      if (beganMs <= only.timeMs && only.timeMs - beganMs < firstBeatMs) return;
      violated(`${what}, after a crash of ${only.process} at ${only.timeMs}`);
    },
  };
};
