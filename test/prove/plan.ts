/**
 * What is proved, in which order: what measures lateness alone, then what computes all the time beside what mostly
 * waits, and what compiles after that.
 */
import type { WorldName } from '../sim/setting.ts';
import type { Job } from './job.ts';

const firstSeed = 1;
const fullSeeds = 200;

/** The seeds that ever failed and are none of the full extent's: a test run has time for those of one hour only. */
const keptJob: Job = {
  name: 'sim kept',
  script: 'sim',
  args: ['--kept', '--seed', `${firstSeed + fullSeeds}`],
  givesWay: true,
};
/** Others with each change. */
const keptSeedsOfSlice = 4;
const someKeptJob: Job = { ...keptJob, args: [...keptJob.args, '--seeds', `${keptSeedsOfSlice}`] };

export type Extent = {
  readonly seeds: number;
  readonly kills: number;
  readonly handovers: number;
  /** Whether workers change their release: it waits for minutes. */
  readonly releases: 0 | 1;
  readonly faults: readonly string[];
  /** Faults that are measured alone. */
  readonly alone: string;
  /** Arguments of each run of Kubernetes' own cases. */
  readonly kubernetes: readonly (readonly string[])[];
  readonly kept: readonly Job[];
  /** Seeds of the other worlds, an hour each. */
  readonly worlds: Readonly<Partial<Record<WorldName, number>>>;
  /** Of these only one, by chance: each takes minutes. */
  readonly either: readonly WorldName[];
  /** Arguments of the mutants. */
  readonly mutants: readonly string[];
};

export const full: Extent = {
  seeds: fullSeeds,
  kills: 100,
  handovers: 1_000,
  releases: 1,
  faults: [],
  alone: 'hanging,reload,mass,uncounted',
  kubernetes: [[], ['--lifecycle', 'static']],
  kept: [keptJob],
  worlds: {
    large: 20,
    crowded: 4,
    functions: 40,
    releases: 40,
    tick: 40,
    watched: 40,
    site: 20,
    sandboxes: 20,
    scarce: 100,
  },
  either: [],
  mutants: [],
};
/** For every change: fewer seeds, and those that ever failed. */
export const slice: Extent = {
  seeds: 4,
  kills: 10,
  handovers: 100,
  releases: 0,
  faults: ['--slice'],
  alone: 'hanging,reload,mass',
  kubernetes: [['--slice']],
  kept: [someKeptJob],
  worlds: { large: 1, crowded: 1, functions: 1, releases: 1, tick: 1, watched: 2, site: 1, sandboxes: 1, scarce: 1 },
  either: ['large', 'crowded'],
  mutants: ['--slice'],
};

/** Simulated, a seed. */
export const hours = 24;

/** Seeds that were never used before. */
const chanceSeeds = 2;

const sim = (name: string, seed: number, seeds: number): Job => ({
  name,
  script: 'sim',
  args: ['--seeds', `${seeds}`, '--hours', `${hours}`, '--seed', `${seed}`],
  givesWay: true,
});

export type Plan = {
  readonly alone: Job;
  /** Those of one seed, which use one core, stand beside each other. */
  readonly computing: readonly Job[];
  /** Measures time, and so stands beside one that gives way. */
  readonly waiting: readonly Job[];
  /** Compiles for minutes with all cores before it waits. */
  readonly compiling: readonly Job[];
};

/** Judged by their exit codes alone: what is figured of the small world is not comparable. */
function worldJobs({ worlds, either }: Extent, chance: () => number): readonly Job[] {
  const played = either[Math.floor(chance() * either.length)];
  return Object.entries(worlds).flatMap(([world, seeds]) => {
    if (world !== played && either.some((each) => each === world)) return [];
    const args = ['--world', world, '--seeds', `${seeds}`, '--hours', '1'];
    return [{ name: `sim ${world}`, script: 'sim', args, givesWay: true }];
  });
}

export const isOfOtherWorld = ({ args }: Job): boolean => args.includes('--world');

export const isOfKeptSeeds = ({ args }: Job): boolean => args.includes('--kept');

export const againJob = sim('sim again', firstSeed, 1);

export function planOf(extent: Extent, chance: () => number): Plan {
  return {
    alone: {
      name: 'hanging',
      script: 'e2e:faults',
      args: ['--only', extent.alone, ...extent.faults],
    },
    computing: [
      sim('sim', firstSeed, extent.seeds),
      againJob,
      sim('sim by chance', Math.floor(chance() * 2 ** 31), chanceSeeds),
      ...extent.kept,
      ...worldJobs(extent, chance),
      { name: 'throttled', script: 'scale:throttled', args: [], givesWay: true },
      { name: 'mutants', script: 'sim:mutants', args: extent.mutants, givesWay: true },
    ],
    waiting: [
      {
        name: 'workers',
        script: 'e2e:workers',
        args: [
          ...['--kills', `${extent.kills}`, '--handovers', `${extent.handovers}`],
          ...['--releases', `${extent.releases}`],
        ],
      },
      { name: 'faults', script: 'e2e:faults', args: ['--only', 'network,events,stall', ...extent.faults] },
    ],
    compiling: extent.kubernetes.map((args) => ({
      name: ['kubernetes', ...args.slice(1)].join(' '),
      script: 'e2e:kubernetes',
      args,
    })),
  };
}
