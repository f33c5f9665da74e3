/**
 * The holder is the timekeeper of its targets: it asks status-sync to look when a back-off or a grace period ends, when STATUS is behind
 * or its outbox is not empty, and it publishes again what STATUS has not acked (kubelet's syncBatch). Until done, every 10 s.
 */
import type { BusEvent } from '../bus/events.ts';
import type { ProbeName } from '../core/spec.ts';
import { nextSyncMs } from '../core/sync.ts';
import { decodeEvent } from '../store/items.ts';
import { eventKey } from '../store/keys.ts';
import type { HeldTarget } from './held.ts';
import type { Holder } from './holder.ts';
import { resultChanged, syncRequested } from './probe-events.ts';
import { transitionId } from './transition.ts';

export const againIntervalMs = 10_000;

/** Looks at one target: with something open it is read again first, so that nothing is asked for that is done already. */
export async function tendTarget(holder: Holder, held: HeldTarget): Promise<void> {
  const { clock } = holder.run.ports;
  const openAtMs = openMs(held);
  if (openAtMs === undefined) return;
  if (openAtMs > clock.nowMs()) return holder.scheduleTarget(held, openAtMs);
  await holder.reread(held);
  if (held.gone || holder.run.ended()) return;
  const nowMs = clock.nowMs();
  dropAcked(held);
  await publishAgain(holder, held, nowMs);
  if (held.gone || holder.run.ended()) return;
  askForSync(holder, held, nowMs);
  const next = openMs(held);
  if (next !== undefined) holder.scheduleTarget(held, next);
}

/** When something of this target has to be looked at; undefined: nothing is open. */
function openMs(held: HeldTarget): number | undefined {
  const sync = nextSyncMs(held);
  const instants = [
    ...(sync === undefined ? [] : [Math.max(sync, held.syncAskedAtMs + againIntervalMs)]),
    ...[...held.unacked.values()].map(({ publishedAtMs }) => publishedAtMs + againIntervalMs),
  ];
  return instants.length === 0 ? undefined : Math.min(...instants);
}

function dropAcked(held: HeldTarget): void {
  for (const [name, { version }] of held.unacked) {
    if ((held.status.acked[name] ?? 0) >= version) held.unacked.delete(name);
  }
}

async function publishAgain(holder: Holder, held: HeldTarget, nowMs: number): Promise<void> {
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
  return resultChanged(held.target, { previousResult: transition?.previousResult, after }, transition?.attempts ?? []);
}

function askForSync(holder: Holder, held: HeldTarget, nowMs: number): void {
  const sync = nextSyncMs(held);
  if (sync === undefined || sync > nowMs || nowMs - held.syncAskedAtMs < againIntervalMs) return;
  held.syncAskedAtMs = nowMs;
  holder.publisher.publish([syncRequested(held.target, 'Due', nowMs)]);
}
