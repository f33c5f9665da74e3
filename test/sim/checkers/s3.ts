/** S3: a verdict is backed by as many results in a row as its threshold asks for, seen by this worker since its last hold. */
import type { Checker } from './checker.ts';
import { type Evidence, evidences, verdictOf } from './verdicts.ts';

export const s3: Checker = (facts, violated) => {
  const seen = evidences(facts);
  return {
    probeStarted: seen.started,
    probeSeen: seen.seen,
    applied({ writer, changes }) {
      for (const change of changes) {
        const verdict = verdictOf(facts, change);
        if (!verdict) continue;
        const { after, endpoint } = verdict;
        const wanted = facts.ledger.thresholdOf(endpoint, after.result === 'failure' ? 'failure' : 'success');
        const run = runOf(seen.of(endpoint), after.result === 'failure' ? 'failure' : 'success');
        if (run < wanted)
          violated(`${writer} set ${change.key.sk} to ${after.result} after ${run} in a row of ${wanted}`);
        if (after.onHold) seen.forget(endpoint);
      }
    },
  };
};

/** How many of this result lie behind the last one of another that was surely recorded. */
function runOf(seen: readonly Evidence[], result: 'success' | 'failure'): number {
  let run = 0;
  for (const { outcome, isRecorded } of seen.toReversed()) {
    if (outcome === result) run += 1;
    else if (outcome !== 'error' && isRecorded) break;
  }
  return run;
}
