/** Slices of the turns of Node's event loop. */
import type { SlicesPorts } from './slices.ts';

export const loopTurns = {
  monotonicMs: () => performance.now(),
  nextTurn: (callback: () => void) => void setImmediate(callback),
  // Node runs `nextTick` callbacks once no promise callbacks are pending.
  afterPromises: (callback: () => void) => queueMicrotask(() => process.nextTick(callback)),
} satisfies SlicesPorts;
