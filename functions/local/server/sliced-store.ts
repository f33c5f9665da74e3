/**
 * The store of the API of a process that probes. A read is a piece of work, since SQLite does it within the call, and
 * what follows belongs to it. Writes are few at a time, since all that are in one transaction go on in the same turn.
 */
import { Fifo } from '../../../shared/lib/fifo.ts';
import type { Slices } from '../../../shared/lib/slices.ts';
import type { Store } from '../../../shared/store/store.ts';

/** As many as the lines of one registration; what follows them takes some milliseconds. */
const writesMax = 64;

export function slicedStore(store: Store, { pause }: Pick<Slices, 'pause'>): Store {
  const waiting = new Fifo<() => void>();
  let writes = 0;
  const enter = async (): Promise<void> => {
    if (writes >= writesMax) return new Promise((resolve) => waiting.push(resolve));
    writes += 1;
  };
  /** Hands the place on. */
  const leave = (): void => {
    const next = waiting.shift();
    if (next) next();
    else writes -= 1;
  };
  return {
    get: async (...asked) => {
      await pause();
      return store.get(...asked);
    },
    query: async (...asked) => {
      await pause();
      return store.query(...asked);
    },
    write: async (...asked) => {
      await enter();
      try {
        return await store.write(...asked);
      } finally {
        leave();
      }
    },
  };
}
