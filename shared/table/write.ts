/**
 * Writes with bounded retries: a conflict or an unreachable store is retried, with jitter. A throttled write is not:
 * the store that is given has been patient already (store/throttled.ts).
 */
import { type Clock, sleep } from '../lib/clock.ts';
import type { Random } from '../lib/random.ts';
import type { Operation, Store, WriteOutcome } from '../store/store.ts';
import { StoreDenied, StoreThrottled, StoreUnavailable } from '../store/store.ts';

const attemptsMax = 5;
const jitterFirstMs = 50;

export type WritePorts = { readonly store: Store; readonly clock: Clock; readonly random: Random };

/**
 * Writes, with a new token for each attempt, since a refused or unavailable attempt has applied nothing. A conflict
 * that outlasts all attempts is returned as refused.
 * @throws StoreUnavailable if the store stays unreachable.
 */
export async function writeSurely(ports: WritePorts, operations: readonly Operation[]): Promise<WriteOutcome> {
  for (let attempt = 1; ; attempt += 1) {
    const outcome = await writeOnce(ports, operations, attempt);
    const again =
      outcome === 'unavailable' ||
      (outcome.kind === 'refused' && outcome.refusals.every((refusal) => refusal.kind === 'conflict'));
    if (outcome !== 'unavailable' && (!again || attempt >= attemptsMax)) return outcome;
    await sleep(ports.clock, jitterFirstMs * 2 ** attempt * (0.5 + ports.random.next()));
  }
}

/**
 * Like `writeSurely`, for callers that need a definite outcome.
 * @throws StoreUnavailable also if the outcome is in doubt or the conflict outlasts all attempts.
 */
export async function writeKnown(
  ports: WritePorts,
  operations: readonly Operation[],
): Promise<Exclude<WriteOutcome, { readonly kind: 'inDoubt' }>> {
  const outcome = await writeSurely(ports, operations);
  if (outcome.kind === 'inDoubt') throw new StoreUnavailable('the write is in doubt');
  if (outcome.kind === 'refused' && outcome.refusals.every(({ kind }) => kind === 'conflict'))
    throw new StoreUnavailable('in conflict with others to the end');
  return outcome;
}

async function writeOnce(
  ports: WritePorts,
  operations: readonly Operation[],
  attempt: number,
): Promise<WriteOutcome | 'unavailable'> {
  try {
    return await ports.store.write(operations, { token: ports.random.uuid() });
  } catch (error) {
    const isFinal = error instanceof StoreDenied || error instanceof StoreThrottled;
    const mayPass = error instanceof StoreUnavailable && !isFinal;
    if (mayPass && attempt < attemptsMax) return 'unavailable';
    throw error;
  }
}
