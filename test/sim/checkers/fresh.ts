/**
 * Fresh: the API shows no result whose probe was last done too long ago, but Unknown. The limit is
 * docs/design/status.md's (Freshness) and a period, as a holder may have died just before it would have probed again.
 */
import type { Endpoint } from '../network.ts';
import { shownForMs } from '../oracle/timing.ts';
import { type Checker, isProbed } from './checker.ts';
import { isTick } from './tick.ts';

/** A probe's own time, a beat, clocks that differ, and an eventually consistent read of RUN. */
const slackMs = 30_000;

type View = {
  readonly metadata: { readonly uid: string };
  readonly status: {
    readonly probes: readonly {
      readonly container: string;
      readonly probeType: string;
      readonly result?: string;
      readonly reason?: string;
    }[];
  };
};

export const fresh: Checker = (facts, violated) => {
  const { ledger } = facts;
  const doneMs = new Map<Endpoint, number>();
  return {
    probeSeen({ endpoint, endMs, outcome, isGenuine, prober }) {
      // An internal error says nothing about the target, nor does a run that has been replaced.
      const isVoid = outcome === 'failure' && !isGenuine;
      const bucket = ledger.probedAt(endpoint)?.address.bucket;
      if (isVoid || bucket === undefined || ledger.tokenOf(prober) !== ledger.epochOf(bucket)) return;
      doneMs.set(endpoint, Math.max(endMs, doneMs.get(endpoint) ?? 0));
    },
    answered({ asked, answer, sentMs }) {
      if (asked.method !== 'GET' || answer.status !== 200 || asked.path.includes('?')) return;
      const { metadata, status } = answer.body as View;
      const target = ledger.targetOf(metadata.uid);
      if (!target) return;
      for (const { probed, item } of ledger.probesOf(target)) {
        const { container, probe, probeType } = probed.probe;
        const shown = status.probes.find(
          (one) => one.container === container.spec.name && one.probeType === probeType && one.reason === undefined,
        );
        const endpoint = ledger.endpointOf(probed.key);
        if (shown?.result === undefined || endpoint === undefined || !isProbed(facts, probed, item)) continue;
        const sinceMs = Math.max(doneMs.get(endpoint) ?? 0, ledger.disturbedMs(probed.uid));
        const periodMs = probe.periodSeconds * 1000;
        const allowedMs = shownForMs(probe.periodSeconds, isTick(facts, probed.address)) + periodMs + slackMs;
        if (sentMs - sinceMs > allowedMs)
          violated(`${endpoint} was last probed at ${sinceMs}, and shown as ${shown.result} at ${sentMs}`);
      }
    },
  };
};
