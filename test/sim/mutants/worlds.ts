/** The world that mutants live in where nothing else is said: every kind of fault, often. */
import type { Profile } from '../faults.ts';

export const stormy: Profile = {
  skewMsMax: 2_000,
  faultEveryMs: 20_000,
  stormMs: 40 * 60_000,
  selfDoubt: true,
  queueVisibilityMs: 30_000,
  outageMs: 0,
};
