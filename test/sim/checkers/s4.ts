/** S4: no failure is set because the prober stood still or had lost its own network. */
import type { Checker } from './checker.ts';
import { type Evidence, evidences, verdictOf } from './verdicts.ts';

export const s4: Checker = (facts, violated) => {
  const seen = evidences(facts);
  return {
    probeStarted: seen.started,
    probeSeen: seen.seen,
    applied({ writer, changes }) {
      for (const change of changes) {
        const verdict = verdictOf(facts, change);
        if (verdict?.after.result !== 'failure') continue;
        const { endpoint, after } = verdict;
        const wanted = facts.ledger.thresholdOf(endpoint, 'failure');
        const genuine = genuineFailures(seen.of(endpoint));
        if (genuine < wanted)
          violated(`${writer} set ${change.key.sk} to failure; of ${wanted} failures ${genuine} were the target's own`);
        if (after.onHold) seen.forget(endpoint);
      }
    },
  };
};

function genuineFailures(seen: readonly Evidence[]): number {
  let count = 0;
  for (const { outcome, isRecorded, isGenuine } of seen.toReversed()) {
    if (outcome === 'failure' && isGenuine) count += 1;
    else if (outcome === 'success' && isRecorded) break;
  }
  return count;
}
