/**
 * The fence: what makes every write of a run void once a higher token stands. Commits and checkpoints carry a check of their bucket's
 * EPOCH, the beat a condition on RUN.
 */

import { type Bucket, epochKey } from '../../store/keys.ts';
import { type Condition, type Operation, StoreUnavailable, type WriteOutcome } from '../../store/store.ts';
import { fencedPorts } from '../ports.ts';
import type { Run } from '../run.ts';

/** Goes with all that a run writes in a bucket, in the same transaction. */
export const epochCheck = ({ token }: Pick<Run, 'token'>, bucket: Bucket): Operation & { readonly kind: 'check' } => ({
  kind: 'check',
  key: epochKey(bucket),
  if: [{ kind: 'equals', attribute: 'token', value: token }],
});

/** A beat counts while RUN is the run's. */
export const beatConditions = ({ token }: Pick<Run, 'token'>): readonly Condition[] => [
  { kind: 'equals', attribute: 'token', value: token },
];

/** undefined: the run has ended, because the answer is in doubt or the store out of reach. */
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
