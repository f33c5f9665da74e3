import type { Random } from '../../shared/lib/random.ts';

/** Chance that repeats from its seed (mulberry32); ids have the form of version 4 UUIDs. */
export function seededRandom(seed: number): Random {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const hexDigits = (count: number) =>
    Array.from({ length: count }, () => Math.floor(next() * 16).toString(16)).join('');
  return {
    next,
    uuid: () => `${hexDigits(8)}-${hexDigits(4)}-4${hexDigits(3)}-8${hexDigits(3)}-${hexDigits(12)}`,
  };
}
