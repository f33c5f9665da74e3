/**
 * Delivers notifications at least once. Each receiver has its own bounded queue, so one that fails or hangs does not
 * delay the others. Within a queue the order is kept: the end of an incident never overtakes its beginning.
 */

import { type Clock, sleep } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';
import { ownProperty } from '../lib/own-property.ts';
import type { Random } from '../lib/random.ts';
import type { Notification } from './alert-state.ts';

export type SendOutcome =
  /** `answer`: what the receiver said, in one line. */
  | { readonly kind: 'delivered'; readonly answer?: string }
  /** `afterMs`: the wait that the receiver asked for. */
  | { readonly kind: 'failed'; readonly why: string; readonly answer?: string; readonly afterMs?: number }
  /** The receiver will never accept this notification. */
  | { readonly kind: 'refused'; readonly why: string; readonly answer?: string };

/** Sends to one receiver. When the signal is aborted, the outcome no longer matters. */
export type Send = (receiver: string, notification: Notification, signal: AbortSignal) => Promise<SendOutcome>;

export type Queued = {
  readonly notification: Notification;
  /** ms since the epoch. */
  readonly queuedMs: number;
  /** How long it had waited when it was kept, not counting times without a process. Absent: not at all. */
  readonly ageMs?: number;
  readonly attempts: number;
};

/** `sinceMs`: when it began to wait, by the monotonic clock. */
type Waiting = Queued & { readonly sinceMs: number };

/** By receiver: what is not delivered yet, in order. */
export type AlertOutbox = { readonly [receiver: string]: readonly Queued[] };

export type DeliveryPorts = {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly send: Send;
  /** Called when the outbox has changed by a delivery. */
  readonly onChange: () => void;
};

/** The longest queue of one receiver. */
export const queueMax = 500;
/** A receiver that does not answer within this time has failed. */
export const sendMsMax = 10_000;
/** After this time a notification is old news. */
export const giveUpAfterMs = 24 * 3_600_000;
const firstRetryMs = 1_000;
const retryMsMax = 300_000;
/** The longest wait that a receiver may ask for. */
export const retryAfterMsMax = 3_600_000;

export type Delivery = {
  /** Queues a notification for its receivers. It is sent after the next `release`. */
  add(notification: Notification): void;
  /** Everything queued is durable now and may be sent. */
  release(): void;
  outbox(): AlertOutbox;
  /** Replaces the receivers. What waits for one that is gone is dropped; the others are not disturbed. */
  configure(receivers: readonly string[]): void;
  /** Aborts what is being sent; it stays queued. */
  stop(): Promise<void>;
};

/** Queues for receivers that no longer exist are dropped. */
export function startDelivery(receivers: readonly string[], kept: AlertOutbox, ports: DeliveryPorts): Delivery {
  for (const [receiver, { length }] of Object.entries(kept))
    if (!receivers.includes(receiver)) warnOfDropped(receiver, length, ports.log);
  const lanes = new Map(
    receivers.map((receiver) => [receiver, new Lane(receiver, ownProperty(kept, receiver) ?? [], ports)]),
  );
  return {
    add: (notification) => {
      for (const receiver of new Set(notification.receivers)) lanes.get(receiver)?.add(notification);
    },
    release: () => {
      for (const lane of lanes.values()) lane.release();
    },
    outbox: () =>
      Object.fromEntries([...lanes].map(([receiver, lane]) => [receiver, lane.queued()] as const).filter(isFilled)),
    configure: (next) => {
      for (const [receiver, lane] of [...lanes]) {
        if (next.includes(receiver)) continue;
        warnOfDropped(receiver, lane.queued().length, ports.log);
        lanes.delete(receiver);
        void lane.stop();
      }
      for (const receiver of next) if (!lanes.has(receiver)) lanes.set(receiver, new Lane(receiver, [], ports));
    },
    stop: async () => {
      await Promise.all([...lanes.values()].map((lane) => lane.stop()));
    },
  };
}

function warnOfDropped(receiver: string, notifications: number, log: Log): void {
  if (notifications > 0)
    log.warn('alerts dropped: their receiver is no longer configured', { receiver, notifications });
}

const isFilled = ([, { length }]: readonly [string, readonly Queued[]]): boolean => length > 0;

/** The queue of one receiver. */
class Lane {
  readonly #receiver: string;
  readonly #ports: DeliveryPorts;
  readonly #stopped = new AbortController();
  #queue: readonly Waiting[];
  /** How many at the head of the queue are durable. */
  #released = 0;
  #draining: Promise<void> | undefined;

  constructor(receiver: string, kept: readonly Queued[], ports: DeliveryPorts) {
    this.#receiver = receiver;
    this.#ports = ports;
    const nowMs = ports.clock.monotonicMs();
    this.#queue = kept.map((queued) => ({ ...queued, sinceMs: nowMs - (queued.ageMs ?? 0) }));
  }

  queued(): readonly Queued[] {
    const nowMs = this.#ports.clock.monotonicMs();
    return this.#queue.map(({ sinceMs, ...queued }) => ({ ...queued, ageMs: Math.round(nowMs - sinceMs) }));
  }

  add(notification: Notification): void {
    if (this.#queue.length >= queueMax) this.#makePlace();
    const { clock } = this.#ports;
    const waiting = { notification, queuedMs: clock.nowMs(), sinceMs: clock.monotonicMs(), attempts: 0 };
    this.#queue = [...this.#queue, waiting];
  }

  release(): void {
    this.#released = this.#queue.length;
    this.#draining ??= this.#drain().finally(() => {
      this.#draining = undefined;
    });
  }

  async stop(): Promise<void> {
    this.#stopped.abort();
    await this.#draining;
  }

  /** Drops a reminder if there is one, else the oldest. The first may be on its way and stays. */
  #makePlace(): void {
    const reminder = this.#queue.findIndex(({ notification }, index) => index > 0 && notification.kind === 'reminder');
    const index = reminder === -1 ? 1 : reminder;
    this.#ports.log.error('alert dropped: the queue of its receiver is full', this.#fields(this.#queue[index]));
    this.#queue = this.#queue.toSpliced(index, 1);
    if (index < this.#released) this.#released -= 1;
  }

  async #drain(): Promise<void> {
    // A caller of `release` must not run the code of a receiver.
    await Promise.resolve();
    for (let head = this.#queue[0]; head && this.#mayContinue(); head = this.#queue[0]) {
      const restMs = await this.#deliver(head).catch((error: unknown) => this.#drop(head, error));
      if (restMs > 0) await sleep(this.#ports.clock, restMs, this.#stopped.signal);
    }
  }

  /** Returns how long to wait before the next attempt. */
  async #deliver(head: Waiting): Promise<number> {
    const outcome = await this.#attempt(head);
    if (this.#stopped.signal.aborted && outcome.kind === 'failed') return 0;
    const restMs = this.#settle({ ...head, attempts: head.attempts + 1 }, outcome);
    this.#ports.onChange();
    return restMs;
  }

  /** What cannot even be tried must not hold up what is behind it. */
  #drop(head: Waiting, error: unknown): number {
    this.#ports.log.error('alert dropped: it cannot be sent', { ...this.#fields(head), error });
    if (this.#queue[0]?.notification === head.notification) this.#removeFirst();
    return 0;
  }

  #removeFirst(): void {
    this.#queue = this.#queue.slice(1);
    this.#released -= 1;
  }

  #mayContinue(): boolean {
    return this.#released > 0 && !this.#stopped.signal.aborted;
  }

  /** Cuts a receiver off that does not answer in time. */
  async #attempt({ notification }: Queued): Promise<SendOutcome> {
    const { clock, send } = this.#ports;
    const cut = new AbortController();
    const over = new AbortController();
    const timeout = sleep(clock, sendMsMax, AbortSignal.any([over.signal, this.#stopped.signal]));
    const late: SendOutcome = { kind: 'failed', why: `no answer within ${sendMsMax / 1_000} s` };
    try {
      return await Promise.race([send(this.#receiver, notification, cut.signal), timeout.then(() => late)]);
    } catch (error) {
      return { kind: 'failed', why: error instanceof Error ? error.message : String(error) };
    } finally {
      over.abort();
      cut.abort();
    }
  }

  /** Returns how long to wait before the next attempt. */
  #settle(tried: Waiting, outcome: SendOutcome): number {
    const { log, clock } = this.#ports;
    const fields = { ...this.#fields(tried), ...(outcome.kind !== 'delivered' && { why: outcome.why }) };
    const isTooOld = clock.monotonicMs() - tried.sinceMs >= giveUpAfterMs;
    if (outcome.kind === 'failed' && !isTooOld) {
      log.warn('alert not delivered yet', fields);
      this.#queue = this.#queue.with(0, tried);
      return this.#restMs(tried.attempts, outcome.afterMs);
    }
    if (outcome.kind === 'failed') log.error('alert given up: its receiver has failed for a day', fields);
    if (outcome.kind === 'refused') log.error('alert given up: its receiver refuses it', fields);
    this.#removeFirst();
    return 0;
  }

  #restMs(attempts: number, afterMs = 0): number {
    const backOffMs = Math.min(firstRetryMs * 2 ** Math.min(attempts - 1, 20), retryMsMax);
    return Math.max(Math.min(afterMs, retryAfterMsMax), backOffMs * (0.5 + this.#ports.random.next() / 2));
  }

  #fields(queued: Queued | undefined) {
    const { notification, attempts } = queued ?? {};
    return { receiver: this.#receiver, notification: notification?.id, alert: notification?.alert, attempts };
  }
}
