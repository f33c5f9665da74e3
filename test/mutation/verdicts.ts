/** What is known of mutants that no test notices, so that a later run reports only new ones. */
import { readFileSync } from 'node:fs';
import type { Mutant } from './mutant.ts';

export type Verdict = Pick<Mutant, 'file' | 'operator' | 'code' | 'original' | 'replacement'> & {
  readonly verdict: 'equivalent' | 'masked' | 'accepted';
  /** Why nothing can notice it, which layer makes up for it, or why it need not be noticed. */
  readonly why: string;
};

const file = new URL('./verdicts.json', import.meta.url);

export const knownVerdicts = (): readonly Verdict[] => JSON.parse(readFileSync(file, 'utf8'));

/** By its text, wherever its line has moved. */
export const isOf = (mutant: Mutant, verdict: Verdict): boolean =>
  (['file', 'operator', 'code', 'original', 'replacement'] as const).every((name) => mutant[name] === verdict[name]);
