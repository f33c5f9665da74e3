/** Slices whose turns come when a test runs them. */
import type { Slices, Work } from '../../shared/lib/slices.ts';

/** Work without an end is run so often in one call. */
const runsMax = 100;

export type TurnsByHand = {
  readonly slices: Slices;
  /** One turn: each piece of work that waits is run once. Returns whether there was one. */
  readonly turn: () => boolean;
  /** Turns, until nothing more is to be done, and what follows from it is. */
  readonly settle: () => Promise<void>;
};

export function turnsByHand(): TurnsByHand {
  const waiting = new Set<Work>();
  const turn = () => {
    const works = [...waiting];
    for (const work of works) {
      waiting.delete(work);
      if (work()) waiting.add(work);
    }
    return works.length > 0;
  };
  const settle = async () => {
    await new Promise(setImmediate);
    for (let runs = 0; waiting.size > 0 && runs < runsMax; runs += 1) turn();
    await new Promise(setImmediate);
  };
  return { slices: { add: (work) => void waiting.add(work), pause: () => Promise.resolve() }, turn, settle };
}
