/**
 * The holder is the timekeeper of its targets. It requests a status-sync when a back-off or a grace period ends, when
 * STATUS is behind, or when its outbox is not empty. It publishes again what STATUS has not acked (kubelet's
 * syncBatch). It repeats both every 10 s until they are done, or as often as its pace allows.
 */
import { type BusEvent, syncRequested } from '../../bus/events.ts';
import type { EventRecord, ProbeRecord } from '../../core/records.ts';
import type { ProbeName } from '../../core/spec.ts';
import { nextSyncMs } from '../../core/sync.ts';
import { isAcked } from '../../status-sync/write-status.ts';
import { decodeEvent } from '../../store/items.ts';
import { eventKey } from '../../store/keys.ts';
import type { Holder } from '../holder.ts';
import type { Run } from '../run.ts';
import type { HeldTarget } from './held-target.ts';
import { resultChanged, transitionId } from './probe-events.ts';

type Tending = Pick<Holder, 'run' | 'publisher' | 'lookPace' | 'scheduleTarget' | 'reread'>;

/**
 * Looks at targets of one bucket. Reads those with something open again first, so that it requests nothing that is
 * already done.
 */
export async function tendTargets(holder: Tending, due: readonly HeldTarget[]): Promise<void> {
  const open = due.filter((held) => isOpen(holder, held));
  if (open.length === 0) return;
  await holder.reread(open);
  for (const held of open) await tendOpen(holder, held);
}

/** Whether something of the target is open and it may be looked at now. Schedules a look for when that is so. */
function isOpen(
  { run, lookPace, scheduleTarget }: Pick<Holder, 'run' | 'lookPace' | 'scheduleTarget'>,
  held: HeldTarget,
): boolean {
  const nowMs = run.ports.clock.nowMs();
  const openAtMs = openMs(held, nowMs);
  if (openAtMs === undefined || openAtMs > nowMs) {
    held.lookAtMs = undefined;
    if (openAtMs !== undefined) scheduleTarget(held, openAtMs);
    return false;
  }
  const waitMs = lookPace.waitMs(held);
  if (waitMs > 0) scheduleTarget(held, nowMs + waitMs);
  else held.lookAtMs = undefined;
  return waitMs === 0;
}

async function tendOpen(holder: Omit<Tending, 'reread'>, held: HeldTarget): Promise<void> {
  if (held.gone || holder.run.ended()) return;
  const nowMs = holder.run.ports.clock.nowMs();
  dropAcked(held);
  await publishAgain(holder, held, nowMs);
  if (held.gone || holder.run.ended()) return;
  askForSync(holder, held, nowMs);
  const next = openMs(held, nowMs);
  if (next !== undefined) holder.scheduleTarget(held, next);
}

/** When this target has to be looked at; undefined if nothing is open. */
function openMs(held: HeldTarget, nowMs: number): number | undefined {
  const sync = nextSyncMs(held, nowMs);
  const instants = [
    ...(sync === undefined ? [] : [Math.max(sync, held.syncAskedAtMs + againIntervalMs)]),
    ...[...held.unacked.values()].map(({ publishedAtMs }) => publishedAtMs + againIntervalMs),
  ];
  return instants.length === 0 ? undefined : Math.min(...instants);
}

function dropAcked(held: HeldTarget): void {
  for (const [name, { version }] of held.unacked) {
    if (isAcked(held.status, name, version)) held.unacked.delete(name);
  }
}

function askForSync({ publisher }: Pick<Holder, 'publisher'>, held: HeldTarget, nowMs: number): void {
  const sync = nextSyncMs(held, nowMs);
  if (sync === undefined || sync > nowMs || nowMs - held.syncAskedAtMs < againIntervalMs) return;
  held.syncAskedAtMs = nowMs;
  const id = `${held.target.uid}/sync/${nowMs}`;
  publisher.publish([syncRequested(held.target, { reason: 'Due', id, timeMs: nowMs })]);
}

export const againIntervalMs = 10_000;

/** Publishes again what this run or an earlier one committed and STATUS has not acked (kubelet's syncBatch). */
export async function publishAgain(
  { run, publisher }: Pick<Holder, 'run' | 'publisher'>,
  held: HeldTarget,
  nowMs: number,
): Promise<void> {
  for (const [name, unacked] of [...held.unacked]) {
    if (nowMs - unacked.publishedAtMs < againIntervalMs) continue;
    const event = unacked.event ?? (await storedChange(run, held, name));
    // A change committed meanwhile has been published with a separate event.
    if (!event || held.unacked.get(name) !== unacked) continue;
    held.unacked.set(name, { ...unacked, event, publishedAtMs: nowMs });
    publisher.publish([event]);
  }
}

/** The event of a commit that another run made, rebuilt from the transition that was written with it. */
async function storedChange({ ports }: Run, held: HeldTarget, name: ProbeName): Promise<BusEvent | undefined> {
  const after = held.records.get(name);
  if (!after) return undefined;
  const item = await ports.store.get(eventKey(held.address, transitionId(after)));
  const decoded = item && decodeEvent(item);
  const transition = decoded?.kind === 'ok' ? decoded.record : undefined;
  const { previousResult, attempts = [] } = transition ?? {};
  return resultChanged(held.target, { previousResult, after: asCommitted(after, transition) }, attempts);
}

/**
 * The record as it was when its current version was written. Since then another container may have been seen, which has
 * no verdict yet.
 */
function asCommitted(record: ProbeRecord, transition: EventRecord | undefined): ProbeRecord {
  if (!transition) return record;
  const { result, containerID = record.containerID } = transition;
  const isVerdict = result !== undefined && !record.unknown;
  return { ...record, containerID, ...(isVerdict && { result }) };
}
