/** One write with the bounded patience that the protocol wants: conflicts and an unreachable store are tried again, with jitter. */
import { sleep } from '../lib/clock.ts';
import type { Ports } from '../run/ports.ts';
import type { Operation, WriteOutcome } from '../store/store.ts';
import { StoreDenied, StoreUnavailable } from '../store/store.ts';

const attemptsMax = 5;
const jitterFirstMs = 50;

export type WritePorts = Pick<Ports, 'store' | 'clock' | 'random'>;

/**
 * Writes, each try with a token of its own (nothing of a refused or unavailable try was applied). A conflict that outlives every try
 * comes back as refused.
 * @throws StoreUnavailable when the store stayed out of reach.
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
 * The same, for whoever cannot go on without knowing: what was left in doubt, or was in conflict to the end, is no outcome.
 * @throws StoreUnavailable then too.
 */
export async function writeKnown(
  ports: WritePorts,
  operations: readonly Operation[],
): Promise<Exclude<WriteOutcome, { readonly kind: 'inDoubt' }>> {
  const outcome = await writeSurely(ports, operations);
  if (outcome.kind === 'inDoubt') throw new StoreUnavailable('nobody knows whether it was written');
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
    const mayPass = error instanceof StoreUnavailable && !(error instanceof StoreDenied);
    if (mayPass && attempt < attemptsMax) return 'unavailable';
    throw error;
  }
}
