/**
 * S4: no failure results from a prober that stood still or had lost its own network. Of a sandbox that reaches its
 * canaries and no target only another one can know: what it saw in vain, or could not look at, is believed.
 */
import { processOf } from '../fault-log.ts';
import type { Checker, Facts } from './checker.ts';
import { looksOf } from './looks.ts';
import { type Evidence, verdictChecker } from './verdicts.ts';

/** An answer holds for a minute, and is awaited for a quarter of one. */
const lookMs = 75_000;

export const s4: Checker = (facts, violated) => {
  const { faults, nowMs } = facts;
  const looks = looksOf(facts);

  const isBelieved = (seen: readonly Evidence[]): boolean => {
    const lied = seen.findLast((one) => one.outcome === 'failure' && isLie(facts, one));
    if (!lied) return false;
    const fromMs = nowMs() - lookMs;
    const look = looks.of(lied.prober);
    if (look && look.timeMs >= fromMs) return look.agrees;
    return faults.during(fromMs, nowMs()).some(({ kind }) => kind !== 'sandbox lies');
  };

  const verdicts = verdictChecker((result, wanted, seen) => {
    if (result !== 'failure') return undefined;
    const genuine = genuineFailures(seen);
    if (genuine >= wanted || isBelieved(seen)) return undefined;
    return `; of ${wanted} failures ${genuine} were the target's own`;
  })(facts, violated);

  return {
    ...verdicts,
    applied(write) {
      looks.applied(write);
      verdicts.applied?.(write);
    },
  };
};

const isLie = ({ faults }: Facts, { prober, startMs, endMs }: Evidence): boolean =>
  faults.during(startMs, endMs, processOf(prober)).some(({ kind }) => kind === 'sandbox lies');

function genuineFailures(seen: readonly Evidence[]): number {
  let count = 0;
  for (const { outcome, isRecorded, isGenuine } of seen.toReversed()) {
    if (outcome === 'failure' && isGenuine) count += 1;
    else if (outcome === 'success' && isRecorded) break;
  }
  return count;
}
