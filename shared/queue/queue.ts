/**
 * The queue port: SQS FIFO with the shard as message group, or the same in process. A group has one message in flight; a message that is
 * received is invisible for its visibility time-out, which is the lease of the run; when that ends without an acknowledgement the
 * message is delivered again, possibly elsewhere, and its old handle is refused from then on.
 *
 * Contract, held by every adapter (test/contract/queue.ts): at least once; in order within a group; a `deduplicationId` seen within
 * `deduplicationWindowMs` is accepted and not delivered a second time; a message older than `retentionMs` is gone, also while in flight.
 */

/** A message as it is sent: one shard for one slot. */
export type ShardMessage = {
  /** `rescue`: its group is not the shard's, because the shard's may be locked by a run that nobody hears of. */
  readonly kind: 'slot' | 'rescue';
  readonly shard: string;
  /** LAYOUT's generation of the shard when the message was sent. */
  readonly generation: number;
  /** First and one past the last bucket index of the shard. */
  readonly buckets: { readonly from: number; readonly to: number };
  /** The slot: its ordinal, and when it ends (ms since the epoch). */
  readonly slot: number;
  readonly slotEndMs: number;
  readonly sentAtMs: number;
  /** `tick`: the run ends when everything due is done. Absent: it holds the shard until the slot ends. */
  readonly mode?: 'tick';
};

/** SQS's window. */
export const deduplicationWindowMs = 300_000;

export interface QueueSender {
  /** @throws QueueUnavailable when the queue did not take it; sent again with the same id it is taken once. */
  send(message: ShardMessage, routing: { readonly group: string; readonly deduplicationId: string }): Promise<void>;
}

export interface Lease {
  /**
   * Sets the visibility of the message from now on; 0: it is delivered again at once. false: the handle is refused, somebody else has it.
   * @throws QueueUnavailable when it is not known to be set.
   */
  extend(visibilityMs: number): Promise<boolean>;
}

/** A message as it is received. `body` is not yet trusted: see `decodeShardMessage`. */
export type Received = {
  readonly body: string;
  readonly group: string;
  readonly receiveCount: number;
  /** How long it lay in the queue, by the queue's own clock; absent: not known. */
  readonly waitedMs?: number;
  readonly lease: Lease;
  /**
   * Deletes the message; false: the handle is refused. Never throws for a handle that is too old.
   * @throws QueueUnavailable when it is not known to be deleted: it may come again.
   */
  acknowledge(): Promise<boolean>;
};

export interface QueueReceiver {
  /**
   * The next message of any group that has none in flight; undefined: none came within `waitMs`, or the signal was aborted.
   * @throws QueueUnavailable
   */
  receive(waitMs: number, signal?: AbortSignal): Promise<Received | undefined>;
}

/** The queue cannot be reached or refuses service. */
export class QueueUnavailable extends Error {
  override readonly name: string = 'QueueUnavailable';
}

/** The caller may not do this. Asking again is pointless until its rights are mended. */
export class QueueDenied extends QueueUnavailable {
  override readonly name = 'QueueDenied';
}
