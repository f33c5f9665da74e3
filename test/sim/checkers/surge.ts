/**
 * Surge: while many targets of a shard fail, they turn unhealthy no faster than the surge limit. A run's surge begins
 * at the earliest when more targets have failed within the window than may turn before a surge. From then on only
 * these, and as many as a surge of that age allows, have turned. A run that hands over targets meanwhile has fewer, but
 * what turned before stays turned. A turn is seen at its commit, so a slow commit violates nothing.
 */
import type { ProbeRecord } from '../../../shared/core/spec/records.ts';
import { targetAddress } from '../../../shared/store/records/keys.ts';
import type { SeenProbe } from '../network.ts';
import { heldPeriodSecondsMax, surgeWindowMs, turnsBeforeSurge, turnsInSurge } from '../oracle/surge.ts';
import { keyKind } from '../store.ts';
import type { Change } from '../table.ts';
import type { Checker, Facts } from './checker.ts';

/** Between a failure and its decision a prober makes a self-check, or stands still. */
const decidingMs = 30_000;

type RunSeen = {
  /** By target, when it last failed; the longest ago comes first. */
  readonly failed: Map<string, number>;
  /** So many may have turned before a surge: with the most targets that the run had while these failed. */
  before: number;
  /** When more of them had failed than may turn before a surge; undefined: they have not. */
  sinceMs: number | undefined;
  /** By target, when the probe ended that turned it. */
  readonly turned: Map<string, number>;
};

export const surge: Checker = (facts, violated) => {
  const { ledger, nowMs } = facts;
  const runs = new Map<string, RunSeen>();

  const runOf = (prober: string): RunSeen => {
    const run = runs.get(prober) ?? { failed: new Map(), before: 0, sinceMs: undefined, turned: new Map() };
    runs.set(prober, run);
    return run;
  };

  const failed = ({ prober, endpoint, endMs }: SeenProbe) => {
    const probed = ledger.probedAt(endpoint);
    if (!probed) return;
    const run = runOf(prober);
    run.failed.delete(probed.uid);
    run.failed.set(probed.uid, endMs);
    for (const [uid, atMs] of run.failed) {
      if (endMs - atMs <= surgeWindowMs + decidingMs) break;
      run.failed.delete(uid);
    }
    const isCalm = run.failed.size < turnsBeforeSurge(0);
    if (isCalm) run.before = 0;
    if (isCalm && run.sinceMs === undefined) return;
    const most = turnsBeforeSurge(targetsOf(facts, prober));
    run.before = Math.max(run.before, most);
    if (run.failed.size > most) run.sinceMs ??= endMs;
    // Well below the limit the run has seen the end of its surge, too.
    else if (run.failed.size < most / 2) run.sinceMs = undefined;
  };

  const turned = (writer: string, { key, before, after }: Change) => {
    const [old, now] = [before as ProbeRecord | undefined, after as ProbeRecord | undefined];
    const run = runs.get(writer);
    const endpoint = ledger.endpointOf(key);
    const probed = endpoint === undefined ? undefined : ledger.probedAt(endpoint);
    if (!run || !probed) return;
    const failedMs = run.failed.get(probed.uid);
    if (failedMs === undefined) return;
    const isTurn = now?.result === 'failure' && old?.result !== 'failure' && old?.containerID === now.containerID;
    if (!isTurn || probed.probe.probe.periodSeconds > heldPeriodSecondsMax) return;
    run.turned.set(probed.uid, failedMs);
    for (const [uid, atMs] of run.turned) if (atMs < nowMs() - surgeWindowMs) run.turned.delete(uid);
    if (run.sinceMs === undefined) return;
    const targets = targetsOf(facts, writer);
    const surgeMs = nowMs() - run.sinceMs;
    if (run.turned.size > Math.max(run.before, turnsBeforeSurge(targets)) + turnsInSurge(surgeMs, targets))
      violated(`${writer} let ${run.turned.size} of ${targets} targets turn, ${surgeMs} ms after a surge began`);
  };

  return {
    probeSeen(seen) {
      if (seen.outcome === 'failure') failed(seen);
    },
    applied({ writer, changes }) {
      for (const change of changes) if (keyKind(change.key) === 'PROBE') turned(writer, change);
    },
  };
};

/** The targets in the buckets that the run holds. */
function targetsOf({ ledger }: Facts, prober: string): number {
  const token = ledger.tokenOf(prober);
  let count = 0;
  for (const { namespace, name } of ledger.targets())
    if (ledger.epochOf(targetAddress(namespace, name).bucket) === token) count += 1;
  return count;
}
