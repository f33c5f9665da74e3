/** How a holder reads targets of one bucket again: each for itself, or in one query where many of the bucket are due. */
import type { HeldTarget } from './held.ts';
import { type ReadTarget, readTarget, readTargets } from './read-target.ts';
import type { Run } from './run.ts';

/**
 * One query reads what lies between these targets too. With a quarter of the bucket it reads no more than four times as much, in one
 * call instead of many.
 */
const duePartMin = 0.25;

/** By the prefix of their keys; a target that is not there is gone. */
export async function readAgain(
  { ports }: Pick<Run, 'ports'>,
  due: readonly HeldTarget[],
  all: Iterable<HeldTarget>,
): Promise<ReadonlyMap<string, ReadTarget>> {
  const addresses = due.map(({ address }) => address);
  if (due.length > 1 && due.length >= duePartMin * countOf(all, due)) return readTargets(ports.store, addresses);
  const found = new Map<string, ReadTarget>();
  for (const address of addresses) {
    const read = await readTarget(ports.store, address);
    if (read) found.set(address.prefix, read);
  }
  return found;
}

/** Held targets of the bucket that these are of. */
function countOf(all: Iterable<HeldTarget>, [first]: readonly HeldTarget[]): number {
  let count = 0;
  for (const { address } of all) if (address.bucket === first?.address.bucket) count += 1;
  return count;
}
