/** Stores that do something before each write. */
import type { Store, WriteOutcome } from '../../shared/store/store.ts';

type Act = (...write: Parameters<Store['write']>) => Promise<WriteOutcome | undefined> | WriteOutcome | undefined;

/** An outcome that `act` returns is the answer, and nothing is written. */
export const beforeWrite =
  (act: Act) =>
  (store: Store): Store => ({
    ...store,
    write: async (...write) => (await act(...write)) ?? store.write(...write),
  });
