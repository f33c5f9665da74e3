/** The seeds that ever failed: tests and proofs try them again. */
import { readFileSync, renameSync, writeFileSync } from 'node:fs';

import type { WorldName } from './setting.ts';

/** `world`: absent, the small one. */
export type KeptSeed = {
  readonly seed: number;
  readonly hours: number;
  readonly world?: WorldName;
  readonly found: string;
};

const file = new URL('./seeds.json', import.meta.url);

export const keptSeeds = (from: URL = file): readonly KeptSeed[] => JSON.parse(readFileSync(from, 'utf8'));

/** Whoever reads the file meanwhile sees it with or without the new one. */
export function keepSeed(failing: KeptSeed, to: URL = file): void {
  const kept = keptSeeds(to);
  if (
    kept.some(({ seed, hours, world }) => seed === failing.seed && hours === failing.hours && world === failing.world)
  )
    return;
  const next = new URL(`${to.href}.${process.pid}`);
  writeFileSync(next, `${JSON.stringify([...kept, failing], undefined, 2)}\n`);
  renameSync(next, to);
}
