/**
 * The holder is the timekeeper of its targets. It requests a status-sync when a back-off or a grace period ends, when
 * STATUS is behind, or when its outbox is not empty. It publishes again what STATUS has not acked (kubelet's
 * syncBatch). It repeats both every 10 s until they are done, or as often as its pace allows.
 */
import { type BusEvent, syncRequested } from '../../bus/events.ts';
import type { EventRecord, ProbeRecord } from '../../core/spec/records.ts';
import type { ProbeName } from '../../core/spec/spec.ts';
import { publishedResult } from '../../core/status/shown.ts';
import { nextSyncMs } from '../../core/status/sync.ts';
import { isAcked } from '../../status-sync/sync.ts';
import { decodeEvent } from '../../store/records/items.ts';
import { type Bucket, eventKey, latestKey, type TargetAddress } from '../../store/records/keys.ts';
import type { Store } from '../../store/store.ts';
import type { Holder } from '../holder.ts';
import type { Run } from '../run.ts';
import { resultChanged, transitionId } from './events.ts';
import type { HeldTarget } from './worker.ts';

/**
 * Looks at targets of one bucket. Reads those with something open again first, so that it requests nothing that is
 * already done.
 */
export async function tendTargets(holder: Holder, due: readonly HeldTarget[]): Promise<void> {
  const open = due.filter((held) => isOpen(holder, held));
  if (open.length === 0) return;
  await holder.reread(open);
  for (const held of open) await tendOpen(holder, held);
}

/**
 * Whether something of the target is open now, and it does not wait for its turn. If that is so later, schedules a look
 * for then.
 */
function isOpen(holder: Holder, held: HeldTarget): boolean {
  const nowMs = holder.run.ports.clock.nowMs();
  const openAtMs = openMs(held, nowMs);
  if (openAtMs !== undefined && openAtMs <= nowMs) return held.ticket === undefined || isItsTurn(holder, held);
  held.ticket = undefined;
  if (openAtMs !== undefined) holder.scheduleTarget(held, openAtMs);
  return false;
}

/** Whether the pace lets something of this target be published now. If not, schedules a look for when it may. */
function isItsTurn(holder: Holder, held: HeldTarget): boolean {
  const waitMs = holder.againPace.waitMs(held);
  if (waitMs > 0) holder.scheduleTarget(held, holder.run.ports.clock.nowMs() + waitMs);
  return waitMs === 0;
}

async function tendOpen(holder: Holder, held: HeldTarget): Promise<void> {
  if (held.gone || holder.run.ended()) return;
  const nowMs = holder.run.ports.clock.nowMs();
  dropAcked(holder, held, nowMs);
  const stillOpenMs = openMs(held, nowMs);
  if (stillOpenMs !== undefined && stillOpenMs <= nowMs && !isItsTurn(holder, held)) return;
  held.ticket = undefined;
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

/** Of what was published, the pace learns whether it was acked; what waits for its turn was seen before. */
function dropAcked({ againPace }: Holder, held: HeldTarget, nowMs: number): void {
  for (const [name, { version, publishedAtMs }] of held.unacked) {
    const isNowAcked = isAcked(held.status, name, version);
    if (isNowAcked) held.unacked.delete(name);
    const waitedMs = nowMs - publishedAtMs;
    const hadTime = waitedMs >= againIntervalMs && waitedMs < Number.POSITIVE_INFINITY;
    if (held.ticket === undefined && (isNowAcked || hadTime)) againPace.found(isNowAcked);
  }
}

function askForSync({ publisher }: Holder, held: HeldTarget, nowMs: number): void {
  const sync = nextSyncMs(held, nowMs);
  if (sync === undefined || sync > nowMs || nowMs - held.syncAskedAtMs < againIntervalMs) return;
  held.syncAskedAtMs = nowMs;
  publisher.publish([syncDue(held, nowMs)]);
}

const syncDue = ({ target }: HeldTarget, nowMs: number): BusEvent =>
  syncRequested(target, { reason: 'Due', id: `${target.uid}/sync/${nowMs}`, timeMs: nowMs });

export const againIntervalMs = 10_000;

/** Publishes again what this run or an earlier one committed and STATUS has not acked (kubelet's syncBatch). */
export async function publishAgain({ run, publisher }: Holder, held: HeldTarget, nowMs: number): Promise<void> {
  for (const [name, unacked] of [...held.unacked]) {
    if (nowMs - unacked.publishedAtMs < againIntervalMs) continue;
    const event = unacked.event ?? (await storedChange(run, held, name));
    // A change committed meanwhile has been published with a separate event.
    if (held.unacked.get(name) !== unacked) continue;
    held.unacked.set(name, { ...unacked, event, publishedAtMs: nowMs });
    publisher.publish([event ?? syncDue(held, nowMs)]);
  }
}

/**
 * The event of a commit that another run made, rebuilt from the transition that was written with it. undefined: it
 * would say that nothing has become nothing.
 */
async function storedChange({ ports }: Run, held: HeldTarget, name: ProbeName): Promise<BusEvent | undefined> {
  const after = held.records.get(name);
  if (!after) return undefined;
  const transition = await storedTransition(ports.store, held.address, name, transitionId(after));
  // A worker has ended, and what it had found before is not known any more: STATUS takes it in all the same.
  if (!transition && publishedResult(after) === undefined) return undefined;
  const { previousResult, attempts = [] } = transition ?? {};
  return resultChanged(held.target, previousResult, asCommitted(after, transition), attempts);
}

/** The event history may lack it (record 83), and a purge has removed the copy first. */
async function storedTransition(
  store: Store,
  address: TargetAddress,
  name: ProbeName,
  id: string,
): Promise<EventRecord | undefined> {
  for (const key of [latestKey(address, name), eventKey(address, id)]) {
    const item = await store.get(key);
    const decoded = item && decodeEvent(item);
    if (decoded?.kind === 'ok' && decoded.record.id === id) return decoded.record;
  }
  return undefined;
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

// Looks at due targets in a few lanes, however many are due. Each lane takes targets of one bucket at a time. All at
// once they would fill the sockets and the event loop, which the beat needs too.

/** Looks under way at the same time. At a few ms a read, they serve more than a thousand targets a second. */
const lanesMax = 8;
/** Targets of one look. Everything that is read of them is in memory at once. */
const groupMax = 100;

export type TendLanes = {
  /**
   * Adds a due target. Does nothing while the target is being looked at, because the end of that look says when the
   * next one is due.
   */
  add(held: HeldTarget): void;
  /**
   * Begins as many looks as there are free lanes. Call it once all due targets have been added, so that targets of one
   * bucket share a look.
   */
  begin(): void;
};

/** `track`: tracks the work of a look until it ends, and swallows what it throws. */
export function tendLanes(
  tend: (group: readonly HeldTarget[]) => Promise<void>,
  track: (work: Promise<void>) => void,
  isOver: () => boolean,
): TendLanes {
  /** Due targets by bucket. The bucket that has waited longest comes first. */
  const waiting = new Map<Bucket, Set<HeldTarget>>();
  const tending = new Set<HeldTarget>();
  let busy = 0;

  const begin = () => {
    while (busy < lanesMax && !isOver()) {
      const group = takeGroup(waiting);
      if (!group) return;
      busy += 1;
      for (const held of group) tending.add(held);
      track(tend(group).finally(() => end(group)));
    }
  };
  const end = (group: readonly HeldTarget[]) => {
    for (const held of group) tending.delete(held);
    busy -= 1;
    begin();
  };
  return {
    add(held) {
      if (tending.has(held)) return;
      const { bucket } = held.address;
      const due = waiting.get(bucket) ?? new Set();
      waiting.set(bucket, due.add(held));
    },
    begin,
  };
}

/** Takes a group from the bucket that has waited longest. Targets that do not fit wait behind the other buckets. */
function takeGroup(waiting: Map<Bucket, Set<HeldTarget>>): readonly HeldTarget[] | undefined {
  for (const [bucket, due] of waiting) {
    waiting.delete(bucket);
    const group = [...due].slice(0, groupMax);
    for (const held of group) due.delete(held);
    if (due.size > 0) waiting.set(bucket, due);
    const held = group.filter(({ gone }) => !gone);
    if (held.length > 0) return held;
  }
  return undefined;
}
