/**
 * L4: between two probes of a worker lies at most the period and 25 s after one crash, and 5 s where nothing went wrong, a planned hand-over
 * included. A new target's second probe comes when its phase says, and what was triggered is off its phase until the next load (record 17).
 */
import { epochKey } from '../../../shared/store/keys.ts';
import type { Endpoint } from '../network.ts';
import { aftermathMs, type Checker, lockAftermathMs, type ProbeStart } from './checker.ts';

const crashMs = 25_000;
const plannedMs = 5_000;

type Last = {
  readonly start: ProbeStart;
  /** When the probe before it began, and the first one of its run. */
  readonly earlierMs: number;
  readonly firstMs: number;
};

export const l4: Checker = ({ ledger, table, faults }, violated) => {
  const last = new Map<Endpoint, Last>();
  return {
    probeStarted(start) {
      const { endpoint, startMs } = start;
      const before = last.get(endpoint);
      const isSameRun = before?.start.prober === start.prober;
      const firstMs = isSameRun ? before.firstMs : startMs;
      last.set(endpoint, { start, earlierMs: before?.start.startMs ?? Number.NEGATIVE_INFINITY, firstMs });
      const probed = ledger.probedAt(endpoint);
      if (!before || !probed) return;
      if (ledger.disturbedMs(probed.uid) >= (isSameRun ? before.earlierMs : before.firstMs)) return;
      const periodMs = probed.probe.probe.periodSeconds * 1000;
      const gapMs = startMs - before.start.startMs;
      if (gapMs <= periodMs + plannedMs) return;
      const shard = String(table.get(epochKey(probed.address.bucket))?.shard);
      if (faults.lockedMs(shard) > startMs - lockAftermathMs) return;
      const felt = faults.during(before.start.startMs - periodMs - aftermathMs, startMs);
      const [only, ...more] = felt;
      const what = `${endpoint} was not probed for ${gapMs} ms of ${periodMs}, until ${start.prober}`;
      if (!only) return violated(what);
      if (more.length > 0 || only.kind !== 'crash' || gapMs <= periodMs + crashMs) return;
      violated(`${what}, after a crash of ${only.process} at ${only.timeMs}`);
    },
  };
};
