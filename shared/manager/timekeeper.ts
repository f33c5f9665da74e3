/**
 * The holder is the timekeeper of its targets: it asks status-sync to look when a back-off or a grace period ends, when STATUS is behind
 * or its outbox is not empty, and it publishes again what STATUS has not acked (kubelet's syncBatch). Until done, every 10 s.
 */

import { syncRequested } from '../bus/events.ts';
import { nextSyncMs } from '../core/sync.ts';
import { isAcked } from './acks.ts';
import type { HeldTarget } from './held.ts';
import type { Holder } from './holder.ts';
import { againIntervalMs, publishAgain } from './republish.ts';

/**
 * Looks at targets of one bucket. Those with something open are read again first, so that nothing is asked for that is done already.
 */
export async function tendTargets(holder: Holder, due: readonly HeldTarget[]): Promise<void> {
  const open = due.filter((held) => isOpen(holder, held));
  if (open.length === 0) return;
  await holder.reread(open);
  for (const held of open) await tendOpen(holder, held);
}

/** Something of the target is open now; what is open later is looked at then. */
function isOpen(holder: Holder, held: HeldTarget): boolean {
  const nowMs = holder.run.ports.clock.nowMs();
  const openAtMs = openMs(held, nowMs);
  if (openAtMs === undefined) return false;
  if (openAtMs <= nowMs) return true;
  holder.scheduleTarget(held, openAtMs);
  return false;
}

async function tendOpen(holder: Holder, held: HeldTarget): Promise<void> {
  if (held.gone || holder.run.ended()) return;
  const nowMs = holder.run.ports.clock.nowMs();
  dropAcked(held);
  await publishAgain(holder, held, nowMs);
  if (held.gone || holder.run.ended()) return;
  askForSync(holder, held, nowMs);
  const next = openMs(held, nowMs);
  if (next !== undefined) holder.scheduleTarget(held, next);
}

/** When something of this target has to be looked at; undefined: nothing is open. */
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

function askForSync(holder: Holder, held: HeldTarget, nowMs: number): void {
  const sync = nextSyncMs(held, nowMs);
  if (sync === undefined || sync > nowMs || nowMs - held.syncAskedAtMs < againIntervalMs) return;
  held.syncAskedAtMs = nowMs;
  const id = `${held.target.uid}/sync/${nowMs}`;
  holder.publisher.publish([syncRequested(held.target, { reason: 'Due', id, timeMs: nowMs })]);
}
