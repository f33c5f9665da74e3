/** Splits long work into slices, so that the event loop can serve other events in between. */
import { type Clock, sleep } from './clock.ts';

/**
 * Returns a function to await before each small piece of work. It yields to the event loop once `sliceMs` have passed
 * since the last yield.
 */
export function pacer(clock: Clock, sliceMs: number): () => Promise<void> {
  let sinceMs = clock.monotonicMs();
  return async () => {
    if (clock.monotonicMs() - sinceMs < sliceMs) return;
    await sleep(clock, 0);
    sinceMs = clock.monotonicMs();
  };
}
