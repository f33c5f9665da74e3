/** Ends a worker: the plan, and what remains to be done once it is durable. */
import type { ProbeRecord } from '../../core/records.ts';
import type { Holder } from '../holder.ts';
import { type Committing, commitStep } from './commit-probe.ts';
import type { CycleEnd } from './due-loop.ts';
import type { Due, HeldTarget } from './held-target.ts';
import { committing, type Planned, type StepPlan } from './plan-step.ts';

export type Ending = Committing & Pick<Holder, 'reread'>;

/** Ends the worker. Its cached result and its metric series are removed; the item stays and is marked as ended. */
export async function endWorker(
  holder: Ending,
  held: HeldTarget,
  { probe, place, specDigest }: Due & { readonly specDigest: string },
): Promise<CycleEnd> {
  const plan = planEnd(probe, holder.run.ports.clock.nowMs(), specDigest);
  if (!(await commitStep(holder, held, { probe, place, plan }))) return 'over';
  held.probes.delete(probe.name);
  holder.run.ports.metrics.remove(probe.labels);
  // Meanwhile the probe may have come back into the spec, or its container with another ID.
  await holder.reread([held]);
  return 'over';
}

/** The plan for a worker's end. Its cached result is removed; the item stays and is marked as ended. */
function planEnd(probe: Planned, nowMs: number, specDigest: string): StepPlan {
  const { record, worker, attempts, ration } = probe.verdict;
  const after = endedRecord(record, nowMs, specDigest);
  return committing(probe, { after, events: [], memory: { worker, attempts, ration } }, []);
}

/** The record of an ended worker. The removal of its cached result is a change. */
export function endedRecord(record: ProbeRecord, nowMs: number, specDigest: string): ProbeRecord {
  const { result: _, unknown: __, ...rest } = record;
  return { ...rest, ended: true, onHold: false, version: record.version + 1, sinceMs: nowMs, specDigest };
}
