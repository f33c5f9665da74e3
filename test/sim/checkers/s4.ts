/** S4: no failure results from a prober that stood still or had lost its own network. */
import { type Evidence, verdictChecker } from './verdicts.ts';

export const s4 = verdictChecker((result, wanted, seen) => {
  if (result !== 'failure') return undefined;
  const genuine = genuineFailures(seen);
  return genuine < wanted ? `; of ${wanted} failures ${genuine} were the target's own` : undefined;
});

function genuineFailures(seen: readonly Evidence[]): number {
  let count = 0;
  for (const { outcome, isRecorded, isGenuine } of seen.toReversed()) {
    if (outcome === 'failure' && isGenuine) count += 1;
    else if (outcome === 'success' && isRecorded) break;
  }
  return count;
}
