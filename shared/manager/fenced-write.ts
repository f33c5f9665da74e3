/** A fenced transaction of a run, sent once: whoever cannot know what became of it stops, and the next run reads what is there. */
import type { Operation, WriteOutcome } from '../store/store.ts';
import { StoreUnavailable } from '../store/store.ts';
import { fencedPorts } from './ports.ts';
import type { Run } from './run.ts';

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
