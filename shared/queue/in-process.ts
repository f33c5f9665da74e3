/**
 * The queue in one process, with SQS FIFO's rules. All time is the clock's monotonic time, and no timer is set while nobody waits: what
 * has come due is found when somebody next asks.
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
  /** Which of several groups comes first; without it the one whose message is oldest. */
  readonly random?: Pick<Random, 'next'>;
  /** How long a message is invisible after it was received. */
  readonly visibilityMs: number;
  readonly retentionMs: number;
};

/** SQS allows 20,000 in flight; one shard has a handful of messages. */
const messagesMax = 10_000;
/** Ids remembered for the window. */
const deduplicationsMax = 100_000;
const waitersMax = 1_000;

/** Times are monotonic. */
type Message = {
  readonly body: string;
  readonly group: string;
  readonly sentAtMs: number;
  receiveCount: number;
  /** In flight until then. */
  invisibleUntilMs: number;
};

type Waiter = (received: Received | undefined) => void;

export function inProcessQueue(options: InProcessQueueOptions): QueueSender & QueueReceiver {
  const { clock, random, visibilityMs, retentionMs } = options;
  /** In order of sending; only the first of a group is ever in flight. */
  const groups = new Map<string, Message[]>();
  /** Id to when it was sent, oldest first. */
  const sent = new Map<string, number>();
  const waiters = new Set<Waiter>();
  let cancelWake: (() => void) | undefined;

  /** What is too old is gone, in flight or not: the group goes on with its next message. */
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
    /** A handle counts for one receipt and ends with its visibility, whether or not somebody else has the message yet. */
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

  /** To those who wait, in the order in which they came; and again when something in flight comes free. */
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
