/** Reads the options of a command by a table of those that are known. Any other stops it. */
import { shown } from './reading.ts';

export type Option<Meaning extends string> = {
  /** Short ones of one letter, such as `-s`, and long ones, such as `--silent`. */
  readonly names: readonly string[];
  /** The values that are known; absent: it takes none. */
  readonly value?: RegExp;
  readonly means: Meaning;
  /** Whether it may be given more than once, each time with another value. */
  readonly repeats?: true;
};

export type Given<Meaning extends string> = {
  readonly means: Meaning;
  /** As it was written, without the value. */
  readonly name: string;
  /** Empty if it takes none. */
  readonly value: string;
};

export type Options<Meaning extends string> =
  | { readonly kind: 'known'; readonly given: readonly Given<Meaning>[]; readonly operands: readonly string[] }
  | { readonly kind: 'unknown'; readonly reason: string };

/**
 * How a program writes its options. `gnu`: `-a -b x`, `-abx`, `--long x`, `--long=x`. `curl`: the same without `=`.
 * `go`: `-long x`, `-long=x` and the same with `--`, all before the first operand.
 */
export type Convention = 'gnu' | 'curl' | 'go';

/** No abbreviations: what they stand for differs between versions. */
export function readOptions<Meaning extends string>(
  args: readonly string[],
  table: readonly Option<Meaning>[],
  convention: Convention,
): Options<Meaning> {
  const given: Given<Meaning>[] = [];
  const operands: string[] = [];
  const words = [...args];
  for (let word = words.shift(); word !== undefined; word = words.shift()) {
    if (word === '--') operands.push(...words.splice(0));
    else if (!word.startsWith('-') || (convention === 'go' && operands.length > 0)) operands.push(word);
    else {
      const isLong = convention === 'go' || word.startsWith('--');
      const taken = isLong ? takeLong(word, words, { table, convention }) : takeShort(word, words, table);
      if (typeof taken === 'string') return { kind: 'unknown', reason: taken };
      given.push(...taken);
    }
  }
  const repeated = table.find(({ value, repeats, names }) => value && !repeats && timesGiven(given, names) > 1);
  if (repeated) return { kind: 'unknown', reason: `${shown(repeated.names[0] ?? '')} is repeated` };
  return { kind: 'known', given, operands };
}

const timesGiven = (given: readonly Given<string>[], names: readonly string[]): number =>
  given.filter(({ name }) => names.includes(name)).length;

const unknown = (name: string): string => `the meaning of ${shown(name)} is not known`;

/** Takes its value from `words`, if it has one there. Returns what is wrong as a text. */
function takeLong<Meaning extends string>(
  word: string,
  words: string[],
  { table, convention }: { readonly table: readonly Option<Meaning>[]; readonly convention: Convention },
): readonly Given<Meaning>[] | string {
  const equals = convention === 'curl' ? -1 : word.indexOf('=');
  const written = equals < 0 ? word : word.slice(0, equals);
  const name = convention === 'go' ? written.replace(/^--/, '-') : written;
  const option = table.find(({ names }) => names.includes(name));
  if (!option || (option.value === undefined && equals >= 0)) return unknown(equals < 0 ? written : `${written}=`);
  const taken = valued(option, name, () => (equals < 0 ? words.shift() : word.slice(equals + 1)));
  return typeof taken === 'string' ? taken : [taken];
}

/** Several options may share a word, such as `-fsSm5`; the last one may take a value from `words`. */
function takeShort<Meaning extends string>(
  word: string,
  words: string[],
  table: readonly Option<Meaning>[],
): readonly Given<Meaning>[] | string {
  const all: Given<Meaning>[] = [];
  if (word === '-') return unknown(word);
  for (let at = 1; at < word.length; at += 1) {
    const name = `-${word[at]}`;
    const option = table.find(({ names }) => names.includes(name));
    if (!option) return unknown(name);
    const taken = valued(option, name, () => word.slice(at + 1) || words.shift());
    if (typeof taken === 'string') return taken;
    all.push(taken);
    if (option.value !== undefined) break;
  }
  return all;
}

function valued<Meaning extends string>(
  { value: known, means }: Option<Meaning>,
  name: string,
  take: () => string | undefined,
): Given<Meaning> | string {
  if (known === undefined) return { means, name, value: '' };
  const value = take();
  if (value === undefined) return `${shown(name)} lacks its value`;
  return known.test(value) ? { means, name, value } : unknown(`${name} ${value}`);
}

export const isGiven = <Meaning extends string>(given: readonly Given<Meaning>[], means: Meaning): boolean =>
  given.some((each) => each.means === means);

export const valuesOf = <Meaning extends string>(given: readonly Given<Meaning>[], means: Meaning): readonly string[] =>
  given.filter((each) => each.means === means).map(({ value }) => value);
