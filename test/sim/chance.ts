/** Seeded chance: a stream for each purpose, so that what is drawn for one does not move the others. */
import type { Random } from '../../shared/lib/random.ts';
import { seededRandom } from '../support/seeded-random.ts';

export type Chance = {
  next(): number;
  /** true with this probability. */
  happens(probability: number): boolean;
  /** Whole, both ends inclusive. */
  between(low: number, high: number): number;
  pick<Item>(items: readonly Item[]): Item;
  /** Exponential, with this mean, at most ten times it. */
  wait(meanMs: number): number;
  /** An own stream. */
  fork(name: string): Chance;
  /** As the product wants it. */
  random(): Random;
};

export function chanceOf(seed: number, name = ''): Chance {
  const own = mixed(seed, name);
  const { next } = seededRandom(own);
  const between = (low: number, high: number) => low + Math.floor(next() * (high - low + 1));
  return {
    next,
    happens: (probability) => next() < probability,
    between,
    pick(items) {
      const item = items[Math.floor(next() * items.length)];
      if (item === undefined) throw new Error('nothing to pick from');
      return item;
    },
    wait: (meanMs) => Math.min(10 * meanMs, Math.ceil(-Math.log(1 - next()) * meanMs)),
    fork: (inner) => chanceOf(seed, `${name}/${inner}`),
    random: () => productRandom(`${hex(own)}-${hex(mixed(own, `${name}/id`))}`, next),
  };
}

/**
 * Ids are unique by a counter and the stream's own number; drawing 30 digits for each write would be a tenth of the run
 * time.
 */
function productRandom(stream: string, next: () => number): Random {
  const prefix = `${stream.slice(0, 13)}-4${stream.slice(13, 16)}-8${stream.slice(16, 17)}00`;
  let count = 0;
  return {
    next,
    uuid() {
      count += 1;
      return `${prefix}-${hex(count).padStart(12, '0')}`;
    },
  };
}

const hex = (number: number): string => number.toString(16).padStart(8, '0');

/** FNV-1a. */
function mixed(seed: number, name: string): number {
  let hash = (0x811c9dc5 ^ seed) >>> 0;
  hash = Math.imul(hash, 0x01000193) >>> 0;
  for (let at = 0; at < name.length; at += 1) hash = Math.imul(hash ^ name.charCodeAt(at), 0x01000193) >>> 0;
  return hash;
}
