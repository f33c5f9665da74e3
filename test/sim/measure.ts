/** The figures of a run. */
import type { Facts, ProbeStart, Watch } from './checkers/checker.ts';
import type { Endpoint } from './network.ts';
import { keyKind } from './store.ts';

export type Measured = {
  readonly probes: number;
  readonly commits: number;
  /** Beyond the period, ms: how much later than due a probe came, whoever made it. Sorted. */
  readonly gapsMs: readonly number[];
  /** From when the last probe that a threshold needs should have ended to the commit, ms. Sorted. */
  readonly detectionsMs: readonly number[];
  /** Probes that began less than half a period after another process's. */
  readonly duplicates: number;
};

export function measure({ ledger }: Facts): { readonly watch: Watch; readonly measured: () => Measured } {
  const last = new Map<Endpoint, ProbeStart>();
  const gaps: number[] = [];
  let probes = 0;
  let commits = 0;
  let duplicates = 0;

  const watch: Watch = {
    applied({ changes }) {
      for (const { key, before, after } of changes) if (keyKind(key) === 'PROBE' && before && after) commits += 1;
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
      if (ledger.disturbedMs(probed.uid) < before.startMs) gaps.push(Math.max(0, gapMs - periodMs));
    },
  };
  return {
    watch,
    measured: () => ({
      probes,
      commits,
      duplicates,
      detectionsMs: [],
      gapsMs: gaps.toSorted((one, other) => one - other),
    }),
  };
}
