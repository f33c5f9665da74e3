/** The descriptors that a process has for its probes, shared by all of its runs: the limit is the process's. */
import { hasRoom, type Manners, nothingTaken, type Taken } from '../core/room.ts';

export type Room = {
  hasFor(manners: Manners, descriptors: number): boolean;
  /** What is returned gives them back and lets in who waits. To be asked for only where there is room. */
  take(manners: Manners, descriptors: number): () => void;
  /** Called whenever some are given back; what is returned ends it. */
  onFree(letIn: () => void): () => void;
};

export function probeRoom(): Room {
  let taken: Taken = nothingTaken;
  const waiting = new Set<() => void>();

  /** The run that was asked first comes last the next time, or one with many probes would have it all. */
  const letIn = () => {
    const [first] = waiting;
    for (const each of [...waiting]) if (waiting.has(each)) each();
    if (first && waiting.delete(first)) waiting.add(first);
  };
  const add = (manners: Manners, descriptors: number) => {
    taken = { ...taken, [manners]: taken[manners] + descriptors };
  };
  return {
    hasFor: (manners, descriptors) => hasRoom(taken, manners, descriptors),
    take(manners, descriptors) {
      add(manners, descriptors);
      return () => {
        add(manners, -descriptors);
        letIn();
      };
    },
    onFree(callback) {
      waiting.add(callback);
      return () => void waiting.delete(callback);
    },
  };
}
