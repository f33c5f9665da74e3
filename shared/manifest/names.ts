/** Names of targets from names that other programs allow. */
import { createHash } from 'node:crypto';
import { namespaceLengthMax } from '../core/spec/limits.ts';

const digestLength = 6;

/**
 * Lower case, with `-` for each run of other characters than letters and digits, so that it is a name of a target and
 * of a container. Letters of other alphabets have no place in it: a digest of the text keeps such names apart, and
 * stays the same. So it does where nothing else is left. Empty for an empty text.
 */
export function targetName(text: string): string {
  const isAscii = !/\P{ASCII}/u.test(text);
  const plain = isAscii ? text : text.normalize('NFKD').replace(/\p{M}/gu, '');
  const parts = plain.toLowerCase().split(/[^a-z0-9]+/);
  const joined = parts.filter((part) => part !== '').join('-');
  if (isAscii && (joined !== '' || text.trim() === '')) return cut(joined, namespaceLengthMax);
  return withDigest(joined, text.trim());
}

/** A name that another target has, with a digest of the text that this one is made of. */
export function withDigest(name: string, text: string): string {
  const digest = createHash('sha256').update(text).digest('hex').slice(0, digestLength);
  const named = cut(name, namespaceLengthMax - digestLength - 1);
  return named === '' ? `x-${digest}` : `${named}-${digest}`;
}

function cut(text: string, lengthMax: number): string {
  const short = text.slice(0, lengthMax);
  return short.endsWith('-') ? short.slice(0, -1) : short;
}
