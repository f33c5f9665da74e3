/**
 * When a shard is held, and by which message. Time is divided into slots. A message is valid for one slot of one shard
 * and waits in the shard's group until the previous slot is over. Sending it again, late or twice, sends the same
 * message.
 */
import { tickPeriodSecondsMin } from '../spec/limits.ts';

/**
 * How a shard is held. `resident`: all the time, because some period is below a minute. `tick`: once a minute. `idle`:
 * not held, because it has no targets.
 */
export type ShardMode = 'idle' | 'tick' | 'resident';

/** Lambda ends a run after 15 min; the difference is for the start and the end of the run. */
export const residentSlotMs = 13 * 60_000;
export const tickSlotMs = tickPeriodSecondsMin * 1_000;

/**
 * The next message queues behind the current one before it is needed, and well within the queue's deduplication window
 * (5 min).
 */
export const residentLeadMs = 4 * 60_000;
/**
 * A tick's message waits behind no other. Half a slot: whenever in its minute the schedule runs, the run has the same
 * time left.
 */
export const tickLeadMs = tickSlotMs / 2;

const minuteMs = 60_000;
/** A target's bucket is the first byte of its hash. */
export const bucketCount = 256;

/** The fields of a shard that decide its slots. */
export type SlottedShard = {
  readonly shard: string;
  readonly generation: number;
  readonly mode: Exclude<ShardMode, 'idle'>;
  /** Its first bucket. */
  readonly from: number;
};

export type Slot = {
  /**
   * Its ordinal, comparable within one generation of a shard only: another generation may have slots of another length.
   */
  readonly slot: number;
  readonly beginMs: number;
  readonly endMs: number;
  /** Its message may not be sent earlier. */
  readonly sendFromMs: number;
};

export const slotLengthMs = (mode: SlottedShard['mode']): number => (mode === 'tick' ? tickSlotMs : residentSlotMs);

const leadMs = (mode: SlottedShard['mode']): number => (mode === 'tick' ? tickLeadMs : residentLeadMs);

/** Shards end their slots one after the other, evenly spread, so that hand-overs and cold loads do not coincide. */
const staggerMs = ({ from, mode }: Pick<SlottedShard, 'from' | 'mode'>): number =>
  Math.floor((from * slotLengthMs(mode)) / bucketCount);

/** The current slot. */
export function slotAt(shard: Pick<SlottedShard, 'from' | 'mode'>, nowMs: number): Slot {
  return slotOf(shard, Math.floor((nowMs - staggerMs(shard)) / slotLengthMs(shard.mode)));
}

/** The slot after the current one. */
export const slotAfter = (shard: Pick<SlottedShard, 'from' | 'mode'>, { slot }: Slot): Slot => slotOf(shard, slot + 1);

/** The slot with this ordinal. */
export function slotOf(shard: Pick<SlottedShard, 'from' | 'mode'>, slot: number): Slot {
  const lengthMs = slotLengthMs(shard.mode);
  const beginMs = slot * lengthMs + staggerMs(shard);
  return { slot, beginMs, endMs: beginMs + lengthMs, sendFromMs: beginMs - leadMs(shard.mode) };
}

/** If clocks differ by more, one of them is wrong. */
export const aheadMsMax = 10_000;

/** Whether the slot's message can have been sent. A slot in the future was computed by a clock that is ahead. */
export const hasCome = (shard: Pick<SlottedShard, 'from' | 'mode'>, slot: number, nowMs: number): boolean =>
  slotOf(shard, slot).sendFromMs <= nowMs + aheadMsMax;

/** How a message is routed through a FIFO queue. */
export type Routing = { readonly group: string; readonly deduplicationId: string };

type Named = Pick<SlottedShard, 'shard' | 'generation'>;

/** One message a slot, however often it is sent ahead. */
export const slotRouting = ({ shard, generation }: Named, slot: number): Routing => ({
  group: shard,
  deduplicationId: `${shard}/${generation}/${slot}`,
});

/** The current slot's message again, because no run seems to have begun it: at most once a minute. */
export const repeatedRouting = (named: Named, slot: number, nowMs: number): Routing => ({
  group: named.shard,
  deduplicationId: `${slotRouting(named, slot).deduplicationId}/${minuteOf(nowMs)}`,
});

/** In a separate group: the shard's group may be locked by a run without a beat. At most one a minute. */
export function rescueRouting({ shard }: Pick<Named, 'shard'>, nowMs: number): Routing {
  const group = `rescue/${shard}/${minuteOf(nowMs)}`;
  return { group, deduplicationId: group };
}

const minuteOf = (nowMs: number): number => Math.floor(nowMs / minuteMs);

/** The generation and slot in RUN. */
export type Shown = { readonly generation: number; readonly slot: number };

/** Whether the shard's last claim was for an earlier slot than this one (of this generation). */
export const isOlder = (shown: Shown | undefined, { generation, slot }: Shown): boolean =>
  shown === undefined || shown.generation < generation || (shown.generation === generation && shown.slot < slot);
