/** The messages that the schedule sends to one shard now. Pure. */

import { lastBeat } from '../core/shards/beat.ts';
import type { LayoutShard } from '../core/shards/layout.ts';
import {
  aheadMsMax,
  hasCome,
  isOlder,
  type Routing,
  repeatedRouting,
  rescueRouting,
  type Slot,
  slotAfter,
  slotAt,
  slotLengthMs,
  slotRouting,
  tickSlotMs,
} from '../core/shards/slots.ts';
import type { ShardMessage } from '../queue/queue.ts';
import type { RunRecord } from '../store/records/shard-records.ts';

export type ScheduledShard = { readonly shard: LayoutShard; readonly run?: RunRecord };

/** A shard that has to be held. */
type Active = LayoutShard & { readonly mode: 'tick' | 'resident' };

const isActive = (shard: LayoutShard): shard is Active => shard.mode !== 'idle';

/** A message without the time of sending, which is known only when it is sent. */
export type Outgoing = { readonly message: Omit<ShardMessage, 'sentAtMs'>; readonly routing: Routing };

/** A beat is written every 5 s, in tick mode once a slot. */
const rescueAfterMs: { readonly [mode in Active['mode']]: number } = { resident: 30_000, tick: 3 * tickSlotMs };

const rescueSlots = 2;

/**
 * The current slot's message, unless a run has begun the slot, and the next one's, if it is time: in the order in which
 * they enter the shard's group.
 */
export function slotMessages(
  { shard, run }: ScheduledShard,
  nowMs: number,
  repeatCurrent: boolean,
): readonly Outgoing[] {
  if (!isActive(shard)) return [];
  const current = slotAt(shard, nowMs);
  const next = slotAfter(shard, current);
  // A slot in the future was begun by a clock that was ahead; it says nothing about the present one.
  const shown = run && hasCome(shard, run.slot, nowMs) ? run : undefined;
  const isBehind = ({ slot }: Slot) => isOlder(shown, { generation: shard.generation, slot });
  const send = ({ slot, endMs }: Slot, routing: Routing): Outgoing => ({
    message: messageOf(shard, 'slot', slot, endMs, namedSlot(shard, run)),
    routing,
  });
  return [
    ...(isBehind(current) || repeatCurrent ? [send(current, repeatedRouting(shard, current.slot, nowMs))] : []),
    ...(nowMs >= next.sendFromMs && isBehind(next) ? [send(next, slotRouting(shard, next.slot))] : []),
  ];
}

/** A rescue, if the shard has had no beat for too long. */
export function rescueMessage(scheduled: ScheduledShard, nowMs: number): readonly Outgoing[] {
  const { shard } = scheduled;
  if (!isActive(shard)) return [];
  return silentMs(scheduled, nowMs) > rescueAfterMs[shard.mode] ? [rescue(shard, scheduled.run, nowMs)] : [];
}

/**
 * A rescue may hold the shard for two slots. A message that was never extended locks the shard's group for the queue's
 * visibility, up to 15 min, and the next slot's message waits behind it. A function that has to end earlier hands the
 * rescue over.
 */
function rescue(shard: Active, run: RunRecord | undefined, nowMs: number): Outgoing {
  const { slot } = slotAt(shard, nowMs);
  const slotEndMs = nowMs + rescueSlots * slotLengthMs(shard.mode);
  return {
    message: messageOf(shard, 'rescue', slot, slotEndMs, namedSlot(shard, run)),
    routing: rescueRouting(shard, nowMs),
  };
}

/** The latest slot of the shard's generation that RUN names; -1: none. */
const namedSlot = ({ generation }: Active, run: RunRecord | undefined): number =>
  run?.generation === generation ? Math.max(run.slot, run.doneSlot) : -1;

const messageOf = (
  { shard, generation, from, to, mode }: Active,
  kind: ShardMessage['kind'],
  slot: number,
  slotEndMs: number,
  seenSlot: number,
): Outgoing['message'] => ({
  kind,
  slot,
  slotEndMs,
  seenSlot,
  shard,
  generation,
  buckets: { from, to },
  ...(mode === 'tick' && { mode }),
});

/**
 * Whether to look at the run again: its last beat is old, or its time makes no sense here. That time is by the holder's
 * clock; if the clock is wrong, only the number of the beat can tell. (In tick mode the number changes too rarely to
 * tell within a minute.) The same holds for a run that ended the current slot in order: its clock was ahead of this
 * one, which has no next slot to send yet.
 */
export const isDoubtful = (scheduled: ScheduledShard, nowMs: number): boolean => {
  const { shard, run } = scheduled;
  const silent = silentMs(scheduled, nowMs);
  // The creation time of a new shard, by the clock of yet another process, does not outweigh a beat of the shard.
  const isOld = run?.generation === shard.generation && nowMs - run.beatAtMs > rescueAfterMs.resident;
  const isSuspect = isOld || silent > rescueAfterMs.resident || silent < -aheadMsMax;
  return shard.mode === 'resident' && (isSuspect || hasEndedEarly(scheduled, nowMs));
};

const hasEndedEarly = ({ shard, run }: ScheduledShard, nowMs: number): boolean =>
  isActive(shard) &&
  run?.generation === shard.generation &&
  run.beat === lastBeat &&
  run.doneSlot >= slotAt(shard, nowMs).slot;

/** A shard that was read twice, at least as far apart as two beats of a live holder. */
export function lookedAgain(before: ScheduledShard, after: ScheduledShard, nowMs: number): ScheduledShard {
  const { shard, run } = after;
  if (!run) return after;
  const isMoving = run.beat !== before.run?.beat || run.token !== before.run.token;
  const beatAtMs = isMoving ? nowMs : Math.min(run.beatAtMs, nowMs - rescueAfterMs.resident - 1);
  return { shard, run: { ...run, beatAtMs } };
}

/** Time since the last heartbeat; for a new shard, since its creation, unless the clock that noted it was ahead. */
export const silentMs = ({ shard, run }: ScheduledShard, nowMs: number): number => {
  if (shard.sinceMs > nowMs + aheadMsMax) return run ? nowMs - run.beatAtMs : 0;
  return nowMs - Math.max(shard.sinceMs, run?.beatAtMs ?? 0);
};
