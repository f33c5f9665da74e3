/**
 * The fence: it makes every write of a run fail once a higher token has been set. Commits and checkpoints contain a
 * check of the EPOCH of their bucket; the beat has a condition on RUN.
 */

import { type Bucket, epochKey } from '../../store/keys.ts';
import { type Condition, type Operation, StoreUnavailable, type WriteOutcome } from '../../store/store.ts';
import { fencedPorts } from '../ports.ts';
import type { Run } from '../run.ts';

/** The check that is part of every transaction in which a run writes to this bucket. */
export const epochCheck = ({ token }: Pick<Run, 'token'>, bucket: Bucket): Operation & { readonly kind: 'check' } => ({
  kind: 'check',
  key: epochKey(bucket),
  if: [{ kind: 'equals', attribute: 'token', value: token }],
});

/** Condition of a beat: RUN still has the token of the run. */
export const beatConditions = ({ token }: Pick<Run, 'token'>): readonly Condition[] => [
  { kind: 'equals', attribute: 'token', value: token },
];

/** undefined: the run has ended, because the answer is in doubt or the store is unreachable. */
export async function writeFenced(
  run: Run,
  operations: readonly Operation[],
): Promise<Exclude<WriteOutcome, { kind: 'inDoubt' }> | undefined> {
  const { store, random } = fencedPorts(run.ports);
  try {
    const outcome = await store.write(operations, { token: random.uuid() });
    if (outcome.kind !== 'inDoubt') return outcome;
    run.end({ kind: 'doubt', reason: 'a commit was left in doubt' });
  } catch (error) {
    if (!(error instanceof StoreUnavailable)) throw error;
    run.end({ kind: 'doubt', reason: `store unavailable: ${error.message}` });
  }
  return undefined;
}
