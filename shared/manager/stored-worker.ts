/** What a new holder makes of what its predecessor left: the worker goes on where it was. */
import type { ProbeRecord } from '../core/records.ts';
import { newWorker, type Worker } from '../core/worker.ts';
import type { CheckpointEntry } from '../store/items.ts';

/**
 * The worker as its items have it; one that had ended begins anew. A checkpoint counts only for the same uid and streak; counters of
 * another spec do not.
 */
export function storedWorker(record: ProbeRecord, specDigest: string, checkpoint: CheckpointEntry | undefined): Worker {
  if (record.ended) return newWorker;
  const { containerID, lastResult, onHold } = record;
  const valid = checkpoint?.uid === record.uid && checkpoint.streak === record.streak;
  // Within a streak the run only grows, and the item may be newer than the checkpoint.
  const resultRun = valid ? Math.max(checkpoint.resultRun, record.resultRun) : record.resultRun;
  const worker: Worker = { containerID, resultRun, onHold, ...(lastResult && { lastResult }) };
  return record.specDigest === specDigest ? worker : withoutRun(worker);
}

/** Its counters restart. */
export function withoutRun({ lastResult: _, ...worker }: Worker): Worker {
  return { ...worker, resultRun: 0 };
}
