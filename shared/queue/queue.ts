/**
 * The queue port, implemented by SQS FIFO with the shard as message group, and in process. A group has one message in
 * flight. A received message is invisible for its visibility time-out, which is the lease of the run. If that ends
 * without an acknowledgement, the message is delivered again, possibly elsewhere, and its old handle is rejected from
 * then on.
 *
 * Contract of every adapter (test/contract/queue.ts): delivery is at least once and in order within a group; a
 * `deduplicationId` seen within `deduplicationWindowMs` is accepted but not delivered again; a message older than
 * `retentionMs` is dropped, even in flight.
 */

import type { ProbeType } from '../core/spec/types.ts';

/** A message as sent: one shard for one slot. */
export type ShardMessage = {
  /**
   * A `rescue` has a different group from the shard's, because a run that has died may still lock the shard's group.
   */
  readonly kind: 'slot' | 'rescue';
  readonly shard: string;
  /** The shard's generation in LAYOUT when the message was sent. */
  readonly generation: number;
  /** The shard's bucket indices: `from` inclusive, `to` exclusive. */
  readonly buckets: { readonly from: number; readonly to: number };
  /** The slot's ordinal, and its end in ms since the epoch. */
  readonly slot: number;
  readonly slotEndMs: number;
  readonly sentAtMs: number;
  /**
   * The latest slot of this generation that RUN named, as begun or done, when the message was composed; -1: none.
   * Absent: not known.
   */
  readonly seenSlot?: number;
  /** With `tick`, the run ends when all due probes are done. If absent, it holds the shard until the slot ends. */
  readonly mode?: 'tick';
};

/** Asks another process to probe a sample of a shard's failing targets, and to say in RUN what it saw. */
export type LookMessage = {
  readonly kind: 'look';
  readonly shard: string;
  /** The token of the run that asks. */
  readonly token: number;
  /** The process that asks, which must not answer. */
  readonly place: string;
  /** Counts the looks of the run. */
  readonly number: number;
  readonly sample: readonly SampledProbe[];
  readonly sentAtMs: number;
};

export type SampledProbe = {
  readonly namespace: string;
  readonly name: string;
  readonly container: string;
  readonly probeType: ProbeType;
};

/** SQS's deduplication window. */
export const deduplicationWindowMs = 300_000;

export interface QueueSender {
  /**
   * Sends a message. Repeating the call with the same id delivers it once.
   * @throws QueueUnavailable if the queue did not accept it.
   */
  send(
    message: ShardMessage | LookMessage,
    routing: { readonly group: string; readonly deduplicationId: string },
  ): Promise<void>;
}

export interface Lease {
  /**
   * Sets the message's visibility from now on; with 0 it is delivered again immediately. Returns false if the handle is
   * rejected, because the message may have been received again.
   * @throws QueueUnavailable if it is not known whether the change was applied.
   */
  extend(visibilityMs: number): Promise<boolean>;
}

/** A received message. `body` is not validated yet: see `decodeShardMessage`. */
export type Received = {
  readonly body: string;
  readonly group: string;
  readonly receiveCount: number;
  /** How long the message was in the queue, by the queue's clock. Absent if unknown. */
  readonly waitedMs?: number;
  readonly lease: Lease;
  /**
   * Deletes the message. Returns false if the handle is rejected; an expired handle never throws.
   * @throws QueueUnavailable if it is not known whether the message was deleted: it may be delivered again.
   */
  acknowledge(): Promise<boolean>;
};

export interface QueueReceiver {
  /**
   * Returns the next message of any group that has none in flight, or undefined if none arrived within `waitMs` or the
   * signal was aborted.
   * @throws QueueUnavailable
   */
  receive(waitMs: number, signal?: AbortSignal): Promise<Received | undefined>;
}

/** The queue cannot be reached or refuses service. */
export class QueueUnavailable extends Error {
  override readonly name: string = 'QueueUnavailable';
}

/** The caller lacks a permission. A retry is useless until the permission is granted. */
export class QueueDenied extends QueueUnavailable {
  override readonly name = 'QueueDenied';
}
