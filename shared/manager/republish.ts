/** The holder's outbox: what it, or a run before it, has committed and STATUS has not acked is published again (kubelet's syncBatch). */
import type { BusEvent } from '../bus/events.ts';
import type { EventRecord, ProbeRecord } from '../core/records.ts';
import type { ProbeName } from '../core/spec.ts';
import { decodeEvent } from '../store/items.ts';
import { eventKey } from '../store/keys.ts';
import type { HeldTarget } from './held.ts';
import type { Holder } from './holder.ts';
import { resultChanged } from './probe-events.ts';
import { transitionId } from './transition.ts';

export const againIntervalMs = 10_000;

/** What was last published so long ago, once more. */
export async function publishAgain(holder: Holder, held: HeldTarget, nowMs: number): Promise<void> {
  for (const [name, unacked] of [...held.unacked]) {
    if (nowMs - unacked.publishedAtMs < againIntervalMs) continue;
    const event = unacked.event ?? (await storedChange(holder, held, name));
    // What was committed meanwhile has been told with its own event.
    if (!event || held.unacked.get(name) !== unacked) continue;
    held.unacked.set(name, { ...unacked, event, publishedAtMs: nowMs });
    holder.publisher.publish([event]);
  }
}

/** The event of a commit of another run, from the transition that was written with it. */
async function storedChange(holder: Holder, held: HeldTarget, name: ProbeName): Promise<BusEvent | undefined> {
  const after = held.records.get(name);
  if (!after) return undefined;
  const item = await holder.run.ports.store.get(eventKey(held.address, transitionId(after)));
  const decoded = item && decodeEvent(item);
  const transition = decoded?.kind === 'ok' ? decoded.record : undefined;
  const { previousResult, attempts = [] } = transition ?? {};
  return resultChanged(held.target, { previousResult, after: asCommitted(after, transition) }, attempts);
}

/** The record as it was at its present version: since then another container may have been seen, which has no verdict yet. */
function asCommitted(record: ProbeRecord, transition: EventRecord | undefined): ProbeRecord {
  if (!transition?.result || record.unknown) return record;
  const { result, containerID = record.containerID } = transition;
  return { ...record, result, containerID };
}
