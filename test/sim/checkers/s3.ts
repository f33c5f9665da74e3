/** S3: a verdict results from as many results in a row as its threshold, seen by this worker since its last hold. */
import { type Evidence, verdictChecker } from './verdicts.ts';

export const s3 = verdictChecker((result, wanted, seen) => {
  const run = runOf(seen, result);
  return run < wanted ? ` after ${run} in a row of ${wanted}` : undefined;
});

/** How many of this result lie behind the last one of another that was surely recorded. */
function runOf(seen: readonly Evidence[], result: 'success' | 'failure'): number {
  let run = 0;
  for (const { outcome, isRecorded } of seen.toReversed()) {
    if (outcome === result) run += 1;
    else if (outcome !== 'error' && isRecorded) break;
  }
  return run;
}
