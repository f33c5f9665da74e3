/** A claim sets a token where a lower one stands, and nowhere else: whoever claims twice, late or out of turn takes nothing back. */
import type { Condition, Operation } from '../store/store.ts';
import { fencedPorts } from './ports.ts';
import type { Run } from './run.ts';
import { writeKnown } from './write.ts';

/** `if`: what has to hold beside. */
export type ClaimItem = Pick<Extract<Operation, { kind: 'update' }>, 'key' | 'set' | 'if'>;

/**
 * All of them in one transaction; false: a higher token is there, or what has to hold beside does not.
 * @throws StoreUnavailable also when nobody knows: the claim may be repeated, but its message must not be acknowledged.
 */
export async function claimItems(run: Run, claims: readonly ClaimItem[]): Promise<boolean> {
  const operations = claims.map(
    ({ key, set, if: also = [] }): Operation => ({
      kind: 'update',
      key,
      ...(set && { set }),
      if: [...lowerToken(run.token), ...also],
    }),
  );
  const outcome = await writeKnown(fencedPorts(run.ports), operations);
  if (outcome.kind === 'written') return true;
  // A claim repeated with one's own token has succeeded before; claim the others again without it.
  const own = new Set(
    outcome.refusals.flatMap((refusal) =>
      refusal.kind === 'condition' && refusal.item?.token === run.token ? [refusal.index] : [],
    ),
  );
  if (own.size === 0 || own.size < outcome.refusals.length) return false;
  const rest = claims.filter((_, index) => !own.has(index));
  return rest.length === 0 || claimItems(run, rest);
}

const lowerToken = (token: number): readonly Condition[] => [
  {
    kind: 'anyOf',
    conditions: [
      { kind: 'absent', attribute: 'token' },
      { kind: 'lessThan', attribute: 'token', value: token },
    ],
  },
];
