/** Ends a worker: the plan, and what remains to be done once it is durable. */
import type { ProbeRecord } from '../../core/spec/records.ts';
import { publishedResult } from '../../core/status/shown.ts';
import type { Holder } from '../holder.ts';
import { type Committing, commitStep } from './commit.ts';
import type { CycleEnd } from './due-loop.ts';
import type { Due, HeldTarget } from './held.ts';
import { committing, type Planned, type StepPlan } from './step-plan.ts';

export type Ending = Committing & Pick<Holder, 'reread'>;

/** Ends the worker. Its cached result and its metric series are removed; the item stays and is marked as ended. */
export async function endWorker(
  holder: Ending,
  held: HeldTarget,
  { probe, place, specDigest }: Due & { readonly specDigest: string },
): Promise<CycleEnd> {
  const plan = planEnd(probe, {
    nowMs: holder.run.ports.clock.nowMs(),
    specDigest,
    withTarget: held.target.deletionTimestampMs !== undefined,
  });
  if (!(await commitStep(holder, held, { probe, place, plan }))) return 'over';
  held.probes.delete(probe.name);
  holder.run.ports.metrics.remove(probe.labels);
  // Meanwhile the probe may have come back into the spec, or its container with another ID.
  await holder.reread([held]);
  return 'over';
}

type Ended = {
  readonly nowMs: number;
  readonly specDigest: string;
  /** The worker ends because its target terminates. */
  readonly withTarget: boolean;
};

/** The plan for a worker's end. Its cached result is removed; the item stays and is marked as ended. */
function planEnd(probe: Planned, ended: Ended): StepPlan {
  const { record, worker, attempts, ration } = probe.verdict;
  return committing(probe, { after: endedRecord(record, ended), events: [], memory: { worker, attempts, ration } }, []);
}

/** The record of an ended worker. The removal of a cached result is a change; there may have been none. */
export function endedRecord(record: ProbeRecord, { nowMs, specDigest, withTarget }: Ended): ProbeRecord {
  const { result, unknown, ...rest } = record;
  const ended = { ...rest, ended: true, onHold: false, specDigest, endedAtMs: nowMs };
  if (publishedResult(record) === undefined) return ended;
  const endedWith = { ...(result && { result }), ...(unknown && { unknown }) };
  return { ...ended, ...(withTarget && { endedWith }), version: record.version + 1, sinceMs: nowMs };
}
