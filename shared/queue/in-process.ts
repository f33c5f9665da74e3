/**
 * The queue within one process, by SQS FIFO's rules. All times are on the clock's monotonic time. No timer runs while
 * no receiver waits; the next receive finds the messages that have become visible.
 */
import type { Clock } from '../lib/clock.ts';
import type { Random } from '../lib/random.ts';
import {
  deduplicationWindowMs,
  type QueueReceiver,
  type QueueSender,
  QueueUnavailable,
  type Received,
} from './queue.ts';
import { encodeShardMessage } from './shard-message.ts';

export type InProcessQueueOptions = {
  readonly clock: Clock;
  /** Chooses among several visible groups. Without it, the oldest message comes first. */
  readonly random?: Pick<Random, 'next'>;
  /** How long a message is invisible after it was received. */
  readonly visibilityMs: number;
  readonly retentionMs: number;
};

/** SQS allows 20,000 messages in flight; a shard has a handful. */
const messagesMax = 10_000;
/** The limit of deduplication ids within the window. */
const deduplicationsMax = 100_000;
const waitersMax = 1_000;

/** Times are monotonic. */
type Message = {
  readonly body: string;
  readonly group: string;
  readonly sentAtMs: number;
  receiveCount: number;
  /** The message is in flight until this time. */
  invisibleUntilMs: number;
};

type Waiter = (received: Received | undefined) => void;

export function inProcessQueue(options: InProcessQueueOptions): QueueSender & QueueReceiver {
  const { clock, random, visibilityMs, retentionMs } = options;
  /** Messages by group, in order of sending. Only the first of a group can be in flight. */
  const groups = new Map<string, Message[]>();
  /** When each deduplication id was sent, oldest first. */
  const sent = new Map<string, number>();
  const waiters = new Set<Waiter>();
  let cancelWake: (() => void) | undefined;

  /** Drops expired messages, even in flight; the group continues with its next message. */
  const expire = (nowMs: number) => {
    for (const [group, messages] of groups) {
      const kept = messages.findIndex(({ sentAtMs }) => nowMs - sentAtMs < retentionMs);
      if (kept === -1) groups.delete(group);
      else messages.splice(0, kept);
    }
    for (const [id, sentAtMs] of sent) {
      if (nowMs - sentAtMs < deduplicationWindowMs) break;
      sent.delete(id);
    }
  };

  const heads = (): readonly Message[] => [...groups.values()].flatMap(([head]) => head ?? []);

  const take = (nowMs: number): Received | undefined => {
    expire(nowMs);
    const visible = heads().filter(({ invisibleUntilMs }) => invisibleUntilMs <= nowMs);
    const message = random ? visible[Math.floor(random.next() * visible.length)] : oldest(visible);
    if (!message) return undefined;
    message.receiveCount += 1;
    message.invisibleUntilMs = nowMs + visibilityMs;
    return received(message);
  };

  const received = (message: Message): Received => {
    const { body, group, receiveCount } = message;
    const waitedMs = clock.monotonicMs() - message.sentAtMs;
    /**
     * A handle is valid for one receipt and expires with its visibility, even if the message has not been received
     * again.
     */
    const isHeld = (nowMs: number): boolean => {
      expire(nowMs);
      const first = groups.get(group)?.[0] === message;
      return first && message.receiveCount === receiveCount && nowMs < message.invisibleUntilMs;
    };
    return {
      body,
      group,
      receiveCount,
      waitedMs,
      lease: {
        async extend(forMs) {
          const nowMs = clock.monotonicMs();
          if (!isHeld(nowMs)) return false;
          message.invisibleUntilMs = nowMs + forMs;
          deliver();
          return true;
        },
      },
      async acknowledge() {
        if (!isHeld(clock.monotonicMs())) return false;
        groups.get(group)?.shift();
        deliver();
        return true;
      },
    };
  };

  /**
   * Serves waiting receivers in order of arrival, and sets a timer for the next message that becomes visible or
   * expires.
   */
  const deliver = () => {
    cancelWake?.();
    cancelWake = undefined;
    const nowMs = clock.monotonicMs();
    for (const waiter of waiters) {
      const next = take(nowMs);
      if (!next) break;
      waiters.delete(waiter);
      waiter(next);
    }
    const freeAtMs = Math.min(...heads().map((head) => Math.min(head.invisibleUntilMs, head.sentAtMs + retentionMs)));
    if (waiters.size > 0 && freeAtMs < Number.POSITIVE_INFINITY)
      cancelWake = clock.setTimer(Math.max(0, freeAtMs - nowMs), deliver);
  };

  return {
    async send(message, { group, deduplicationId }) {
      const nowMs = clock.monotonicMs();
      expire(nowMs);
      if (sent.has(deduplicationId)) return;
      const count = [...groups.values()].reduce((sum, { length }) => sum + length, 0);
      if (count >= messagesMax || sent.size >= deduplicationsMax) throw new QueueUnavailable('the queue is full');
      sent.set(deduplicationId, nowMs);
      const body = encodeShardMessage(message);
      const messages = groups.get(group) ?? [];
      messages.push({ body, group, sentAtMs: nowMs, receiveCount: 0, invisibleUntilMs: nowMs });
      groups.set(group, messages);
      deliver();
    },
    async receive(waitMs, signal) {
      if (signal?.aborted) return undefined;
      const next = take(clock.monotonicMs());
      if (next || waitMs <= 0) return next;
      if (waiters.size >= waitersMax) throw new QueueUnavailable('too many wait for a message');
      return new Promise((resolve) => {
        const giveUp = () => {
          waiter(undefined);
          deliver();
        };
        const waiter: Waiter = (given) => {
          waiters.delete(waiter);
          cancel();
          signal?.removeEventListener('abort', giveUp);
          resolve(given);
        };
        const cancel = clock.setTimer(waitMs, giveUp);
        signal?.addEventListener('abort', giveUp);
        waiters.add(waiter);
        deliver();
      });
    },
  };
}

const oldest = (messages: readonly Message[]): Message | undefined =>
  messages.toSorted((one, other) => one.sentAtMs - other.sentAtMs)[0];
