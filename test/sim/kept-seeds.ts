/** The seeds that have failed: tests and proofs repeat them. */
import { keepIn, keptIn } from '../support/kept-list.ts';
import type { WorldName } from './setting.ts';

/** `world`: absent, the small one. */
export type KeptSeed = {
  readonly seed: number;
  readonly hours: number;
  readonly world?: WorldName;
  readonly found: string;
};

const file = new URL('./seeds.json', import.meta.url);

export const keptSeeds = (from: URL = file): readonly KeptSeed[] => keptIn(from);

export const keepSeed = (failing: KeptSeed, to: URL = file): void =>
  keepIn(
    to,
    failing,
    ({ seed, hours, world }) => seed === failing.seed && hours === failing.hours && world === failing.world,
  );
