/** What a child process has to try, and what it reports. */
import type { Protection } from './removals.ts';

export type Trial = {
  /** Whose world. */
  readonly mutant: string;
  readonly removed: readonly Protection[];
  readonly seeds: readonly number[];
  readonly hours: number;
};

export type Found = {
  readonly invariant: string;
  readonly seed: number;
  readonly timeMs: number;
  readonly detail: string;
};

export type Tried = {
  readonly simulatedHours: number;
  /** How often each replacement stood in for its original, those of the world included. */
  readonly calls: { readonly [replaced: string]: number };
  /** What was violated first. */
  readonly found?: Found;
};
