/** Long work in slices, so that the event loop serves everything else in between. */
import { type Clock, sleep } from './clock.ts';

/** To be awaited before each small piece of work: gives way once the pieces since the last pause have taken `sliceMs`. */
export function pacer(clock: Clock, sliceMs: number): () => Promise<void> {
  let sinceMs = clock.monotonicMs();
  return async () => {
    if (clock.monotonicMs() - sinceMs < sliceMs) return;
    await sleep(clock, 0);
    sinceMs = clock.monotonicMs();
  };
}
