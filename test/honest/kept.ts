/** The shortened sequences that have failed: each run and `npm test` play them again. */
import { keepIn, keptIn } from '../support/kept-list.ts';
import type { Failing } from './shortest.ts';

/** `seed`: of the run that found it. The steps are kept too, as new kinds of steps change what a seed gives. */
type KeptFailing = Failing & { readonly seed: number };

const file = new URL('./kept.json', import.meta.url);

export const keptFailing = (): readonly KeptFailing[] => keptIn(file);

export const keepFailing = (failing: KeptFailing): void =>
  keepIn(file, failing, ({ steps }) => JSON.stringify(steps) === JSON.stringify(failing.steps));
