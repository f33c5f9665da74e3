/**
 * The socket budget of a process. All its runs share it, because the limit of descriptors is per process. A probe takes
 * its place before it begins and releases it once its last socket has closed, so the places taken are the descriptors
 * in use.
 */
import { type BacklogClass, descriptorsMax, fitsBudget, nothingTaken, type Taken } from '../../core/socket-budget.ts';
import type { SocketPermit } from '../../net/net.ts';

export type Place = SocketPermit & {
  /** The probe opens no more sockets. Its place is released as soon as none is open. Idempotent. */
  leave(): void;
  hasLeft(): boolean;
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
  let taken: Taken = nothingTaken;
  const waiting = new Set<() => void>();

  /** The run that was asked first comes last the next time. Otherwise one with many probes would take every place. */
  const letIn = () => {
    const [first] = waiting;
    for (const each of [...waiting]) if (waiting.has(each)) each();
    if (first && waiting.delete(first)) waiting.add(first);
  };
  const add = (backlogClass: BacklogClass, descriptors: number) => {
    taken = { ...taken, [backlogClass]: taken[backlogClass] + descriptors };
  };
  return {
    hasFor: (backlogClass, descriptors) => fitsBudget(taken, { backlogClass, descriptors, max }),
    take(backlogClass, descriptors) {
      add(backlogClass, descriptors);
      return placeOf(() => {
        add(backlogClass, -descriptors);
        letIn();
      });
    },
    onFree(callback) {
      waiting.add(callback);
      return () => void waiting.delete(callback);
    },
  };
}

function placeOf(giveBack: () => void): Place {
  let hasLeft = false;
  let open: PromiseWithResolvers<void> | undefined;
  const leave = () => {
    if (hasLeft) return;
    hasLeft = true;
    if (!open) giveBack();
  };
  const opened = () => {
    const socket = Promise.withResolvers<void>();
    open = socket;
    return () => {
      open = undefined;
      socket.resolve();
      if (hasLeft) giveBack();
    };
  };
  return { leave, hasLeft: () => hasLeft, closing: () => open?.promise, opened };
}
