/**
 * The store of the API of a process that probes. A read is a piece of work, since SQLite does it within the call, and
 * what follows belongs to it. Writes are few at a time, since all that are in one transaction go on in the same turn.
 */
import type { Slices } from '../../../shared/lib/slices.ts';
import type { Store } from '../../../shared/store/store.ts';
import { Room } from './room.ts';

/** As many as the lines of one registration; what follows them takes some milliseconds. */
const writesMax = 64;

export function slicedStore(store: Store, { pause }: Pick<Slices, 'pause'>): Store {
  const writes = new Room<object>(writesMax);
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
      const place = {};
      await writes.enter(place);
      try {
        return await store.write(...asked);
      } finally {
        writes.leave(place);
        writes.admitNext();
      }
    },
  };
}
