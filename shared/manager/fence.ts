/**
 * The fence: what makes every write of a run void once a higher token stands. Commits and checkpoints carry a check of their bucket's
 * EPOCH, the beat a condition on RUN.
 */
import type { Bucket } from '../store/keys.ts';
import { epochKey } from '../store/keys.ts';
import type { Condition, Operation } from '../store/store.ts';
import type { Run } from './run.ts';

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
