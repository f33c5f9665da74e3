/** Notes whether the store takes writes, without a write of its own. */
import type { Clock } from '../../../shared/lib/clock.ts';
import type { Store } from '../../../shared/store/store.ts';

/** Every write has failed since then. */
export type StoreProblem = {
  /** ms since the epoch. */
  readonly sinceMs: number;
  /** The same by the monotonic clock. */
  readonly monotonicMs: number;
  /** What the first of them said. */
  readonly message: string;
};

export type WatchedStore = { readonly store: Store; readonly problem: () => StoreProblem | undefined };

/** Returns the same store, watched. */
export function watchedStore(store: Store, clock: Clock): WatchedStore {
  let problem: StoreProblem | undefined;
  const write: Store['write'] = async (...written) => {
    try {
      const outcome = await store.write(...written);
      problem = undefined;
      return outcome;
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      problem ??= { sinceMs: clock.nowMs(), monotonicMs: clock.monotonicMs(), message };
      throw error;
    }
  };
  return { store: { ...store, write }, problem: () => problem };
}
