/**
 * The part of each turn of the event loop in which the clients of the API are served, all of them together: what they
 * send is read, and what they ask for is done, in pieces. Probing has the rest, so no number of requests delays it.
 */
import { type Slices, slices } from '../../shared/lib/slices.ts';

/** One for the process, since it has one event loop. `begins`: called before each piece of work. */
export const clientTurns = (begins?: () => void): Slices =>
  slices({
    monotonicMs: () => performance.now(),
    nextTurn: setImmediate,
    // Node runs `nextTick` callbacks once no promise callbacks are pending.
    afterPromises: (callback) => queueMicrotask(() => process.nextTick(callback)),
    begins,
  });
