/**
 * The messages of a queue in memory, by SQS FIFO's rules for groups, visibility, retention and deduplication. The
 * caller says what time it is, in ms of one monotonic clock.
 */
import type { Random } from '../lib/random.ts';
import { deduplicationWindowMs, QueueUnavailable } from './queue.ts';

export type MessageGroupsOptions = {
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

export type Message = {
  readonly body: string;
  readonly group: string;
  readonly sentAtMs: number;
  receiveCount: number;
  /** The message is in flight until this time. */
  invisibleUntilMs: number;
};

/** A receipt is valid until the message is received again or becomes visible, even if it was not received again. */
export type Receipt = { readonly message: Message; readonly receiveCount: number };

export class MessageGroups {
  readonly #options: MessageGroupsOptions;
  /** Messages by group, in order of sending. Only the first of a group can be in flight. */
  readonly #groups = new Map<string, Message[]>();
  /** When each deduplication id was sent, oldest first. */
  readonly #sent = new Map<string, number>();

  constructor(options: MessageGroupsOptions) {
    this.#options = options;
  }

  /**
   * Returns whether a message with this id may be added, which is then remembered as sent.
   * @throws QueueUnavailable if the queue is full.
   */
  admit(deduplicationId: string, nowMs: number): boolean {
    this.#expire(nowMs);
    if (this.#sent.has(deduplicationId)) return false;
    const count = [...this.#groups.values()].reduce((sum, { length }) => sum + length, 0);
    if (count >= messagesMax || this.#sent.size >= deduplicationsMax) throw new QueueUnavailable('the queue is full');
    this.#sent.set(deduplicationId, nowMs);
    return true;
  }

  add(group: string, body: string, nowMs: number): void {
    const messages = this.#groups.get(group) ?? [];
    messages.push({ body, group, sentAtMs: nowMs, receiveCount: 0, invisibleUntilMs: nowMs });
    this.#groups.set(group, messages);
  }

  /** Receives a visible message, if there is one. */
  take(nowMs: number): Receipt | undefined {
    this.#expire(nowMs);
    const { random, visibilityMs } = this.#options;
    const visible = this.#heads().filter(({ invisibleUntilMs }) => invisibleUntilMs <= nowMs);
    const message = random ? visible[Math.floor(random.next() * visible.length)] : oldest(visible);
    if (!message) return undefined;
    message.receiveCount += 1;
    message.invisibleUntilMs = nowMs + visibilityMs;
    return { message, receiveCount: message.receiveCount };
  }

  /** Sets how long the message stays invisible. Returns false if the receipt is not valid. */
  hide(receipt: Receipt, forMs: number, nowMs: number): boolean {
    if (!this.#isValid(receipt, nowMs)) return false;
    receipt.message.invisibleUntilMs = nowMs + forMs;
    return true;
  }

  /** Deletes the message. Returns false if the receipt is not valid. */
  remove(receipt: Receipt, nowMs: number): boolean {
    if (!this.#isValid(receipt, nowMs)) return false;
    this.#groups.get(receipt.message.group)?.shift();
    return true;
  }

  /** Returns when the next message becomes visible or expires; infinity if there is none. */
  nextChangeMs(): number {
    const { retentionMs } = this.#options;
    return Math.min(...this.#heads().map((head) => Math.min(head.invisibleUntilMs, head.sentAtMs + retentionMs)));
  }

  #isValid({ message, receiveCount }: Receipt, nowMs: number): boolean {
    this.#expire(nowMs);
    const isFirst = this.#groups.get(message.group)?.[0] === message;
    return isFirst && message.receiveCount === receiveCount && nowMs < message.invisibleUntilMs;
  }

  #heads(): readonly Message[] {
    return [...this.#groups.values()].flatMap(([head]) => head ?? []);
  }

  /** Drops expired messages, even in flight; the group continues with its next message. */
  #expire(nowMs: number): void {
    for (const [group, messages] of this.#groups) {
      const kept = messages.findIndex(({ sentAtMs }) => nowMs - sentAtMs < this.#options.retentionMs);
      if (kept === -1) this.#groups.delete(group);
      else messages.splice(0, kept);
    }
    for (const [id, sentAtMs] of this.#sent) {
      if (nowMs - sentAtMs < deduplicationWindowMs) break;
      this.#sent.delete(id);
    }
  }
}

const oldest = (messages: readonly Message[]): Message | undefined =>
  messages.toSorted((one, other) => one.sentAtMs - other.sentAtMs)[0];
