/** The store of the API of a process that probes: what follows a read or a write is done in the clients' slices. */
import type { Slices } from '../../shared/lib/slices.ts';
import type { Store } from '../../shared/store/store.ts';

/** A read is a piece of work itself: SQLite does it within the call. */
export function slicedStore(store: Store, { pause }: Pick<Slices, 'pause'>): Store {
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
      try {
        return await store.write(...asked);
      } finally {
        await pause();
      }
    },
  };
}
