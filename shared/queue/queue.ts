/**
 * The queue port: SQS FIFO with the shard as message group, or the same in process. Visibility is the lease of a run; a message is
 * acknowledged by whoever hosts the run, never by the run itself.
 */
export type ShardMessage = {
  readonly shard: string;
  /** LAYOUT's generation of the shard when the message was sent. */
  readonly generation: number;
  /** First and one past the last bucket index of the shard. */
  readonly buckets: { readonly from: number; readonly to: number };
  /** The slot: its ordinal, and when it ends (ms since the epoch). */
  readonly slot: number;
  readonly slotEndMs: number;
};

export interface Lease {
  /** Sets the visibility of the run's message from now on; false: the handle is refused, somebody else has it. */
  extend(visibilityMs: number): Promise<boolean>;
}
