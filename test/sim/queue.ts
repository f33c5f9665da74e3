/**
 * The queue of a simulated world: SQS FIFO's rules (shared/queue/queue.ts) and its faults. It decides in an instant;
 * calls to it can be lost.
 */
import {
  deduplicationWindowMs,
  type QueueReceiver,
  type QueueSender,
  QueueUnavailable,
  type Received,
} from '../../shared/queue/queue.ts';
import { encodeShardMessage } from '../../shared/queue/shard-message.ts';
import type { Chance } from './chance.ts';
import type { Scheduler } from './clock.ts';
import type { Caller, Reply } from './process.ts';

export type QueueFault =
  | { readonly kind: 'unreachable' }
  /** It was done, but the answer was lost. */
  | { readonly kind: 'answerLost' };

export type QueueFaults = {
  next(caller: Caller): QueueFault | undefined;
  /** How much later than it was sent the next message can be received. */
  delayMs(): number;
};

/** `sinceMs`: when the message was given. `wasHeld`: to another process than the one that held it. */
export type QueueLock = { readonly sinceMs: number; readonly wasHeld: boolean };

export type SimQueue = {
  /** The queue as a process sees it. */
  of(
    caller: Caller,
  ): QueueSender & { receive(...asked: Parameters<QueueReceiver['receive']>): Promise<SimReceived | undefined> };
  /** Delivers a message in flight once more, so much later, even if its handle is invalid; false: none is in flight. */
  duplicate(laterByMs: number): boolean;
  /** A process has received a message and has never extended its lease. */
  isLocked(): boolean;
  /** Each such message that still locks its group. */
  locks(): readonly QueueLock[];
  /** When a copy last made two messages of a group in flight: the holder by the first is fenced without warning. */
  doubledMs(): number;
};

/** `by`: as another process holds it, to which it was handed over. */
export type SimReceived = Received & { readonly by: (caller: Caller) => Received };

export type QueuePorts = {
  readonly scheduler: Scheduler;
  readonly chance: Chance;
  readonly faults: QueueFaults;
  /** The queue's visibility time-out, for messages whose receiver never extends their lease. */
  readonly visibilityMs: number;
};

const retentionMs = 3_600_000;
/** A receiver extends the lease soon, or never. */
const firstExtendMs = 5_000;

type Message = {
  readonly body: string;
  readonly group: string;
  readonly sentAtMs: number;
  visibleAtMs: number;
  /** When the queue looks whether it may be received; undefined: it does not. */
  looksAtMs: number | undefined;
  receiveCount: number;
  done: boolean;
  /** When it was received, until its receiver first extends the lease. */
  unheldSinceMs: number | undefined;
  /** Its receiver before had extended its lease. */
  wasHeld: boolean;
};

const newMessage = (sent: Pick<Message, 'body' | 'group' | 'sentAtMs' | 'visibleAtMs'>): Message => ({
  ...sent,
  looksAtMs: undefined,
  receiveCount: 0,
  done: false,
  unheldSinceMs: undefined,
  wasHeld: false,
});

type Waiter = { readonly caller: Caller; readonly give: (received: SimReceived | undefined) => void };

export function simQueue({ scheduler, chance, faults, visibilityMs }: QueuePorts): SimQueue {
  const groups = new Map<string, Message[]>();
  const sent = new Map<string, number>();
  const waiters = new Set<Waiter>();
  let doubledMs = Number.NEGATIVE_INFINITY;

  const heads = (): Message[] => {
    const nowMs = scheduler.nowMs();
    const found: Message[] = [];
    for (const [group, messages] of groups) {
      while (messages[0] && (messages[0].done || messages[0].sentAtMs <= nowMs - retentionMs)) messages.shift();
      const [head] = messages;
      if (head) found.push(head);
      else groups.delete(group);
    }
    return found;
  };

  const deliver = () => {
    if (waiters.size === 0) return;
    const nowMs = scheduler.nowMs();
    for (const message of heads()) {
      if (message.visibleAtMs > nowMs || waiters.size === 0) continue;
      const waiter = chance.pick([...waiters]);
      waiters.delete(waiter);
      waiter.give(receivedBy(waiter.caller, message));
    }
  };

  /** Looks again when the message may be visible; extending a lease only moves that time. */
  const visibleAt = (message: Message, atMs: number) => {
    message.visibleAtMs = atMs;
    if (message.looksAtMs !== undefined && message.looksAtMs <= atMs) return;
    message.looksAtMs = atMs;
    scheduler.after(atMs - scheduler.nowMs(), {
      label: 'message visible',
      deliver: () => {
        if (message.looksAtMs !== atMs) return;
        message.looksAtMs = undefined;
        if (message.done) return;
        if (message.visibleAtMs > atMs) visibleAt(message, message.visibleAtMs);
        else deliver();
      },
    });
  };

  const receivedBy = (caller: Caller, message: Message): SimReceived => {
    message.receiveCount += 1;
    scheduler.trace(`${scheduler.nowMs()} queue gives ${message.body} to ${caller.life.name}`);
    const receipt = message.receiveCount;
    if (heads().some((other) => other !== message && isBeside(other, message))) doubledMs = scheduler.nowMs();
    message.wasHeld = receipt > 1 && message.unheldSinceMs === undefined;
    message.unheldSinceMs = scheduler.nowMs();
    visibleAt(message, scheduler.nowMs() + visibilityMs);
    const isHeld = () => !message.done && message.receiveCount === receipt && scheduler.nowMs() < message.visibleAtMs;
    const waitedMs = scheduler.nowMs() - message.sentAtMs;
    const by = (holder: Caller): Received => {
      const ask = (site: string, act: () => void) =>
        called(holder, site, () => {
          if (!isHeld()) return false;
          message.unheldSinceMs = undefined;
          act();
          return true;
        });
      return {
        body: message.body,
        group: message.group,
        receiveCount: receipt,
        waitedMs,
        lease: { extend: (forMs) => ask('extend', () => visibleAt(message, scheduler.nowMs() + forMs)) },
        acknowledge: () =>
          ask('acknowledge', () => {
            message.done = true;
            scheduler.after(0, { label: 'group free', deliver });
          }),
      };
    };
    return { ...by(caller), by };
  };

  const called = <Answer>(caller: Caller, site: string, evaluate: () => Answer): Promise<Answer> =>
    caller.call(site, (reply) => {
      const fault = faults.next(caller)?.kind;
      if (!fault) return reply(chance.between(3, 30), evaluate);
      if (fault === 'answerLost') evaluate();
      return reply(chance.between(1_500, 1_600), unavailable);
    });

  const send = (message: Message, deduplicationId: string) => {
    const nowMs = scheduler.nowMs();
    for (const [id, atMs] of sent) {
      if (nowMs - atMs < deduplicationWindowMs) break;
      sent.delete(id);
    }
    scheduler.trace(
      `${nowMs} queue takes ${message.group} ${deduplicationId}${sent.has(deduplicationId) ? ', known' : ''}`,
    );
    if (sent.has(deduplicationId)) return;
    sent.set(deduplicationId, nowMs);
    groups.set(message.group, [...(groups.get(message.group) ?? []), message]);
    visibleAt(message, nowMs + faults.delayMs());
  };

  return {
    of: (caller) => ({
      send: (message, { group, deduplicationId }) =>
        called(caller, 'send', () => {
          const body = encodeShardMessage(message);
          const atMs = scheduler.nowMs();
          send(newMessage({ body, group, sentAtMs: atMs, visibleAtMs: atMs }), deduplicationId);
        }),
      receive: (waitMs, signal) => caller.call('receive', (reply) => wait(caller, reply, { waitMs, signal })),
    }),
    isLocked: () => heads().some(isLocked),
    locks: () =>
      heads()
        .filter(isLocked)
        .map(({ unheldSinceMs, wasHeld }) => ({ sinceMs: unheldSinceMs ?? 0, wasHeld })),
    doubledMs: () => doubledMs,
    duplicate(laterByMs) {
      const inFlight = heads().filter(({ visibleAtMs }) => visibleAtMs > scheduler.nowMs());
      if (inFlight.length === 0) return false;
      const { body, group, sentAtMs } = chance.pick(inFlight);
      // As a group of its own, so that the first one's lock does not hold it back.
      const ghost = newMessage({ body, group, sentAtMs, visibleAtMs: 0 });
      groups.set(`${group} again at ${scheduler.nowMs()}`, [ghost]);
      visibleAt(ghost, scheduler.nowMs() + laterByMs);
      return true;
    },
  };

  function isBeside({ group, receiveCount, visibleAtMs }: Message, given: Message): boolean {
    return group === given.group && receiveCount > 0 && visibleAtMs > scheduler.nowMs();
  }

  function isLocked({ unheldSinceMs, visibleAtMs }: Message): boolean {
    const nowMs = scheduler.nowMs();
    return unheldSinceMs !== undefined && visibleAtMs > nowMs && nowMs - unheldSinceMs > firstExtendMs;
  }

  function wait(
    caller: Caller,
    reply: Reply<SimReceived | undefined>,
    { waitMs, signal }: { readonly waitMs: number; readonly signal: AbortSignal | undefined },
  ): void {
    if (faults.next(caller)) {
      reply(1_500, unavailable);
      return;
    }
    const give = (received: SimReceived | undefined) => {
      waiters.delete(waiter);
      cancel();
      signal?.removeEventListener('abort', giveUp);
      reply(received ? chance.between(3, 30) : 0, () => received);
    };
    const giveUp = () => {
      if (waiters.has(waiter)) give(undefined);
    };
    const waiter: Waiter = { caller, give };
    const cancel = scheduler.after(waitMs, { label: 'poll ends', deliver: giveUp });
    if (signal?.aborted) {
      reply(0, () => undefined);
      return;
    }
    signal?.addEventListener('abort', giveUp);
    waiters.add(waiter);
    // A process that died while it waited is gone; sometimes the queue notices too late.
    for (const other of waiters) if (!other.caller.life.alive && chance.happens(0.9)) waiters.delete(other);
    scheduler.after(0, { label: 'poll begins', deliver });
  }
}

function unavailable(): never {
  throw new QueueUnavailable('simulated');
}
