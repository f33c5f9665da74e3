/**
 * The queue within one process, by SQS FIFO's rules. All times are on the clock's monotonic time. No timer runs while
 * no receiver waits; the next receive finds the messages that have become visible.
 */
import type { Clock } from '../lib/clock.ts';
import { MessageGroups, type MessageGroupsOptions, type Receipt } from './message-groups.ts';
import {
  type LookMessage,
  type QueueReceiver,
  type QueueSender,
  QueueUnavailable,
  type Received,
  type ShardMessage,
} from './queue.ts';
import { encodeShardMessage } from './shard-message.ts';

export type InProcessQueueOptions = MessageGroupsOptions & { readonly clock: Clock };

const waitersMax = 1_000;

type Waiter = (received: Received | undefined) => void;

/** Returns plain functions, which a copy of the object keeps. */
export function inProcessQueue(options: InProcessQueueOptions): QueueSender & QueueReceiver {
  const queue = new InProcessQueue(options);
  return {
    send: (message, routing) => queue.send(message, routing),
    receive: (waitMs, signal) => queue.receive(waitMs, signal),
  };
}

class InProcessQueue implements QueueSender, QueueReceiver {
  readonly #clock: Clock;
  readonly #groups: MessageGroups;
  /** Receivers that wait, in order of arrival. */
  readonly #waiters = new Set<Waiter>();
  #cancelWake: (() => void) | undefined;

  constructor(options: InProcessQueueOptions) {
    this.#clock = options.clock;
    this.#groups = new MessageGroups(options);
  }

  async send(
    message: ShardMessage | LookMessage,
    { group, deduplicationId }: Parameters<QueueSender['send']>[1],
  ): Promise<void> {
    const nowMs = this.#clock.monotonicMs();
    if (!this.#groups.admit(deduplicationId, nowMs)) return;
    this.#groups.add(group, encodeShardMessage(message), nowMs);
    this.#deliver();
  }

  async receive(waitMs: number, signal?: AbortSignal): Promise<Received | undefined> {
    if (signal?.aborted) return undefined;
    const next = this.#take(this.#clock.monotonicMs());
    if (next || waitMs <= 0) return next;
    if (this.#waiters.size >= waitersMax) throw new QueueUnavailable('too many wait for a message');
    return this.#wait(waitMs, signal);
  }

  #wait(waitMs: number, signal: AbortSignal | undefined): Promise<Received | undefined> {
    return new Promise((resolve) => {
      const giveUp = () => {
        waiter(undefined);
        this.#deliver();
      };
      const waiter: Waiter = (received) => {
        this.#waiters.delete(waiter);
        cancel();
        signal?.removeEventListener('abort', giveUp);
        resolve(received);
      };
      const cancel = this.#clock.setTimer(waitMs, giveUp);
      signal?.addEventListener('abort', giveUp);
      this.#waiters.add(waiter);
      this.#deliver();
    });
  }

  /**
   * Serves waiting receivers in order of arrival, and sets a timer for the next message that becomes visible or
   * expires.
   */
  #deliver(): void {
    this.#cancelWake?.();
    this.#cancelWake = undefined;
    const nowMs = this.#clock.monotonicMs();
    for (const waiter of this.#waiters) {
      const next = this.#take(nowMs);
      if (!next) break;
      this.#waiters.delete(waiter);
      waiter(next);
    }
    const freeAtMs = this.#groups.nextChangeMs();
    if (this.#waiters.size > 0 && freeAtMs < Number.POSITIVE_INFINITY)
      this.#cancelWake = this.#clock.setTimer(Math.max(0, freeAtMs - nowMs), () => this.#deliver());
  }

  #take(nowMs: number): Received | undefined {
    const receipt = this.#groups.take(nowMs);
    return receipt && this.#received(receipt);
  }

  #received(receipt: Receipt): Received {
    const { body, group, sentAtMs } = receipt.message;
    const applied = (isApplied: boolean): boolean => {
      if (isApplied) this.#deliver();
      return isApplied;
    };
    return {
      body,
      group,
      receiveCount: receipt.receiveCount,
      waitedMs: this.#clock.monotonicMs() - sentAtMs,
      lease: { extend: async (forMs) => applied(this.#groups.hide(receipt, forMs, this.#clock.monotonicMs())) },
      acknowledge: async () => applied(this.#groups.remove(receipt, this.#clock.monotonicMs())),
    };
  }
}
