/** What `npm run sim` is asked for. */
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { isWorldName, type WorldName, worldNames } from './setting.ts';

export type Options = {
  readonly seeds: number;
  readonly hours: number;
  readonly world: WorldName;
  /** The first seed. */
  readonly first: number;
  /** Seeds at the same time, each in a thread of its own. */
  readonly jobs: number;
  readonly output: 'table' | 'json';
  /** The file that the trace of a single seed goes to. */
  readonly replay?: string;
  readonly crashpoints: boolean;
  /** The seeds from `first` on that ever failed, each for its hours: as many as `seeds` says, by chance, or all. */
  readonly kept: boolean;
};

/** A refusal names the option. */
export type Asked =
  | { readonly kind: 'options'; readonly options: Options }
  | { readonly kind: 'refused'; readonly why: string };

const jobsMax = 64;
const seedsMax = 1_000_000;
/** What a large world does in an hour is a small one's day. */
const hoursDefault: Readonly<Record<WorldName, string>> = {
  small: '24',
  watched: '1',
  functions: '1',
  releases: '1',
  tick: '1',
  large: '1',
  crowded: '1',
  site: '1',
  sandboxes: '1',
  scarce: '1',
};
const hoursMax = 10_000;
/** A seed is 32 bits. */
const seedMax = 2 ** 32 - 1;

export function optionsOf(args: readonly string[]): Asked {
  try {
    return { kind: 'options', options: read(args) };
  } catch (error) {
    return { kind: 'refused', why: error instanceof Error ? error.message : String(error) };
  }
}

function read(args: readonly string[]): Options {
  const { values } = parseArgs({
    args: [...args],
    options: {
      seeds: { type: 'string' },
      hours: { type: 'string' },
      world: { type: 'string' },
      seed: { type: 'string' },
      jobs: { type: 'string', default: String(Math.min(jobsMax, availableParallelism())) },
      output: { type: 'string', default: 'table' },
      replay: { type: 'string' },
      crashpoints: { type: 'boolean', default: false },
      kept: { type: 'boolean', default: false },
    },
  });
  const { output, replay, crashpoints, kept } = values;
  const other = (['hours', 'world', 'replay'] as const).find((name) => kept && values[name] !== undefined);
  if (other) throw new Error(`--${other}: not with --kept, which knows the worlds and hours of its seeds`);
  const seedsDefault = kept ? `${seedsMax}` : replay === undefined ? '10' : '1';
  const seeds = wholeNumber('seeds', values.seeds ?? seedsDefault, [1, seedsMax]);
  if (replay !== undefined && seeds !== 1) throw new Error('--replay wants a single seed: --seeds 1');
  if (output !== 'table' && output !== 'json') throw new Error(`--output wants table or json, not '${output}'`);
  const world = values.world ?? 'small';
  if (!isWorldName(world)) throw new Error(`--world wants ${worldNames.join(', ')}, not '${world}'`);
  return {
    seeds,
    world,
    hours: wholeNumber('hours', values.hours ?? hoursDefault[world], [1, hoursMax]),
    first: wholeNumber('seed', values.seed ?? '1', [0, seedMax]),
    jobs: Math.min(kept ? jobsMax : seeds, wholeNumber('jobs', values.jobs, [1, jobsMax])),
    output,
    crashpoints,
    kept,
    ...(replay !== undefined && { replay }),
  };
}

function wholeNumber(name: string, text: string, [low, high]: readonly [number, number]): number {
  const number = Number(text);
  if (/^\d+$/.test(text) && number >= low && number <= high) return number;
  throw new Error(`--${name} wants a whole number from ${low} to ${high}, not '${text}'`);
}
