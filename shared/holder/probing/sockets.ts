/**
 * The socket budget of a process. All its runs share it, because the limit of descriptors is per process. A probe takes
 * its place before it begins and releases it once its last socket has closed, so the places taken are the descriptors
 * in use. When the machine refuses a socket, the budget shrinks (shared/core/self/sockets.ts).
 */
import {
  afterRefusal,
  type BacklogClass,
  descriptorsMax,
  fitsBudget,
  nothingTaken,
  notRefused,
  risen,
  type Shortage,
  type SocketLimit,
  shortageOf,
} from '../../core/self/sockets.ts';
import type { Work } from '../../lib/attribution.ts';
import type { Clock } from '../../lib/clock.ts';
import type { SocketPermit } from '../../net/net.ts';

export type Place = SocketPermit & {
  /** The probe opens no more sockets. Its place is released as soon as none is open. Idempotent. */
  leave(): void;
  hasLeft(): boolean;
  /** What the machine lacked when it refused the probe a socket or a process. */
  lacked(): Shortage | undefined;
  /** From now on its sockets run on behalf of this work. */
  attribute(work: Pick<Work, 'resumes'>): void;
};

export type SocketBudget = {
  hasFor(backlogClass: BacklogClass, descriptors: number): boolean;
  /** Call it only if `hasFor` returns true. */
  take(backlogClass: BacklogClass, descriptors: number): Place;
  /** The machine has refused a socket that is no probe's. */
  refused(code: string): void;
  /** Descriptors that all probes together may hold now; undefined: as many as configured. */
  lowered(): number | undefined;
  /** Calls `letIn` whenever a place is released, until the returned function is called. */
  onFree(letIn: () => void): () => void;
};

/** `max`: descriptors that all probes together may hold, fewer if the process has fewer. */
export function newSocketBudget(clock: Pick<Clock, 'monotonicMs'>, max: number = descriptorsMax): SocketBudget {
  const taken: { [backlogClass in BacklogClass]: number } = { ...nothingTaken };
  /** Part of `taken`, of probes that were refused and so hold nothing. */
  let refused = 0;
  let limit: SocketLimit = notRefused(max);
  let waiting: readonly (() => void)[] = [];

  /** The run that was asked first comes last the next time. Otherwise one with many probes would take every place. */
  const letIn = () => {
    const asked = waiting;
    for (const each of asked) if (waiting.includes(each)) each();
    const [first, ...others] = waiting;
    if (first !== undefined && first === asked[0] && others.length > 0) waiting = [...others, first];
  };
  const account: Account = {
    add(backlogClass) {
      taken[backlogClass] += 1;
    },
    release(backlogClass, descriptors, wasRefused) {
      taken[backlogClass] -= descriptors;
      if (wasRefused) refused -= descriptors;
      letIn();
    },
    refuse(descriptors) {
      refused += descriptors;
      limit = afterRefusal(limit, taken.steady + taken.new + taken.hanging - refused, clock.monotonicMs());
    },
  };
  const fits = (backlogClass: BacklogClass, descriptors: number) =>
    fitsBudget(taken, backlogClass, descriptors, limit.max);
  /** Only a lowered limit can rise, and only a probe that does not fit needs it. */
  const rises = () => {
    if (limit.max === max) return false;
    const before = limit;
    limit = risen(limit, max, clock.monotonicMs());
    return limit !== before;
  };
  return {
    hasFor: (backlogClass, descriptors) =>
      fits(backlogClass, descriptors) || (rises() && fits(backlogClass, descriptors)),
    take(backlogClass, descriptors) {
      taken[backlogClass] += descriptors;
      return new TakenPlace(account, backlogClass, descriptors);
    },
    refused(code) {
      if (shortageOf(code) === 'sockets') account.refuse(0);
    },
    lowered: () => (limit.max < max ? limit.max : undefined),
    onFree(callback) {
      waiting = [...waiting, callback];
      return () => {
        waiting = waiting.filter((other) => other !== callback);
      };
    },
  };
}

type Account = {
  /** `wasRefused`: `refuse` was called for these descriptors. */
  release(backlogClass: BacklogClass, descriptors: number, wasRefused: boolean): void;
  /** A probe with a place has opened one more socket than it asked for. */
  add(backlogClass: BacklogClass): void;
  /** The machine has refused a socket to a probe with so many descriptors. */
  refuse(descriptors: number): void;
};

/** A class, because each probe has one: its methods are made once. */
class TakenPlace implements Place {
  resumes: (() => void) | undefined;
  readonly #account: Account;
  readonly #backlogClass: BacklogClass;
  readonly #descriptors: number;
  #hasLeft = false;
  #open = 0;
  #shortage: Shortage | undefined;
  /** Made when the close of the open sockets is waited for. */
  #closing: PromiseWithResolvers<void> | undefined;

  constructor(account: Account, backlogClass: BacklogClass, descriptors: number) {
    this.#account = account;
    this.#backlogClass = backlogClass;
    this.#descriptors = descriptors;
  }

  attribute({ resumes }: Pick<Work, 'resumes'>): void {
    this.resumes = resumes;
  }

  leave(): void {
    if (this.#hasLeft) return;
    this.#hasLeft = true;
    if (this.#open === 0) this.#giveBack();
  }

  hasLeft(): boolean {
    return this.#hasLeft;
  }

  lacked(): Shortage | undefined {
    return this.#shortage;
  }

  refused(code: string): void {
    const shortage = shortageOf(code);
    if (shortage === undefined || this.#shortage === 'sockets') return;
    this.#shortage = shortage;
    if (shortage === 'sockets') this.#account.refuse(this.#descriptors);
  }

  closing(): Promise<void> | undefined {
    if (this.#open === 0) return undefined;
    this.#closing ??= Promise.withResolvers();
    return this.#closing.promise;
  }

  /** The second socket is that of a name's other address family. It is counted although the budget may be full. */
  opened(): () => void {
    this.#open += 1;
    if (this.#open > 1) this.#account.add(this.#backlogClass);
    return () => {
      this.#open -= 1;
      if (this.#open > 0) return this.#account.release(this.#backlogClass, 1, false);
      this.#closing?.resolve();
      this.#closing = undefined;
      if (this.#hasLeft) this.#giveBack();
    };
  }

  #giveBack(): void {
    this.#account.release(this.#backlogClass, this.#descriptors, this.#shortage === 'sockets');
  }
}
