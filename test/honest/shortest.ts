/** Makes a failing sequence short: whatever can be left out, largest pieces first, until every step is needed. */
import { play } from './play.ts';
import type { Step } from './steps.ts';

export type Failing = { readonly steps: readonly Step[]; readonly found: string };

/** The most replays of a sequence. */
const triesMax = 400;

/** What a look finds wrong as the steps are played; undefined: nothing. */
export const foundIn = (steps: readonly Step[]): Promise<string | undefined> =>
  play(steps).then(
    () => undefined,
    (error: unknown) => (error instanceof Error ? error.message : String(error)),
  );

export async function shortest(steps: readonly Step[]): Promise<Failing> {
  let best: Failing = { steps, found: (await foundIn(steps)) ?? 'not found again' };
  let tries = 0;
  for (let size = Math.ceil(steps.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let from = 0; from < best.steps.length && tries < triesMax; tries += 1) {
      const shorter = [...best.steps.slice(0, from), ...best.steps.slice(from + size)];
      const found = await foundIn(shorter);
      if (found) best = { steps: shorter, found };
      else from += size;
    }
  }
  return best;
}
