/**
 * The socket budget of a process. All its runs share it, because the limit of descriptors is per process. A probe takes
 * its place before it begins and releases it once its last socket has closed, so the places taken are the descriptors
 * in use.
 */
import { type BacklogClass, descriptorsMax, fitsBudget, nothingTaken } from '../../core/socket-budget.ts';
import type { Work } from '../../lib/attribution.ts';
import type { SocketPermit } from '../../net/net.ts';

export type Place = SocketPermit & {
  /** The probe opens no more sockets. Its place is released as soon as none is open. Idempotent. */
  leave(): void;
  hasLeft(): boolean;
  /** From now on its sockets run on behalf of this work. */
  attribute(work: Pick<Work, 'resumes'>): void;
};

export type SocketBudget = {
  hasFor(backlogClass: BacklogClass, descriptors: number): boolean;
  /** Call it only if `hasFor` returns true. */
  take(backlogClass: BacklogClass, descriptors: number): Place;
  /** Calls `letIn` whenever a place is released, until the returned function is called. */
  onFree(letIn: () => void): () => void;
};

/** `max`: descriptors that all probes together may hold, fewer if the process has fewer. */
export function newSocketBudget(max: number = descriptorsMax): SocketBudget {
  const taken: { [backlogClass in BacklogClass]: number } = { ...nothingTaken };
  let waiting: readonly (() => void)[] = [];

  /** The run that was asked first comes last the next time. Otherwise one with many probes would take every place. */
  const letIn = () => {
    const asked = waiting;
    for (const each of asked) if (waiting.includes(each)) each();
    const [first, ...others] = waiting;
    if (first !== undefined && first === asked[0] && others.length > 0) waiting = [...others, first];
  };
  const release = (backlogClass: BacklogClass, descriptors: number) => {
    taken[backlogClass] -= descriptors;
    letIn();
  };
  return {
    hasFor: (backlogClass, descriptors) => fitsBudget(taken, { backlogClass, descriptors, max }),
    take(backlogClass, descriptors) {
      taken[backlogClass] += descriptors;
      return new TakenPlace(release, backlogClass, descriptors);
    },
    onFree(callback) {
      waiting = [...waiting, callback];
      return () => {
        waiting = waiting.filter((other) => other !== callback);
      };
    },
  };
}

type Release = (backlogClass: BacklogClass, descriptors: number) => void;

/** A class, because each probe has one: its methods are made once. */
class TakenPlace implements Place {
  resumes: (() => void) | undefined;
  readonly #release: Release;
  readonly #backlogClass: BacklogClass;
  readonly #descriptors: number;
  #hasLeft = false;
  #isOpen = false;
  /** Made when the close of the open socket is waited for. */
  #closing: PromiseWithResolvers<void> | undefined;

  constructor(release: Release, backlogClass: BacklogClass, descriptors: number) {
    this.#release = release;
    this.#backlogClass = backlogClass;
    this.#descriptors = descriptors;
  }

  attribute({ resumes }: Pick<Work, 'resumes'>): void {
    this.resumes = resumes;
  }

  leave(): void {
    if (this.#hasLeft) return;
    this.#hasLeft = true;
    if (!this.#isOpen) this.#giveBack();
  }

  hasLeft(): boolean {
    return this.#hasLeft;
  }

  closing(): Promise<void> | undefined {
    if (!this.#isOpen) return undefined;
    this.#closing ??= Promise.withResolvers();
    return this.#closing.promise;
  }

  opened(): () => void {
    this.#isOpen = true;
    return () => {
      this.#isOpen = false;
      this.#closing?.resolve();
      this.#closing = undefined;
      if (this.#hasLeft) this.#giveBack();
    };
  }

  #giveBack(): void {
    this.#release(this.#backlogClass, this.#descriptors);
  }
}
