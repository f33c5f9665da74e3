/** Every mutant: which protections it lacks, and the world that has to kill it. */
import type { MutantWorld } from './mutant-world.ts';
import type { Protection } from './removals.ts';
import { stormy } from './worlds.ts';

export type Mutant = {
  readonly name: string;
  readonly removed: readonly Protection[];
  readonly world: MutantWorld;
  /** Tried one after the other. */
  readonly seeds: readonly number[];
  readonly hours: number;
  /** It survives because of this layer; then a pair without both is killed. */
  readonly maskedBy?: string;
  /**
   * Of a pair: either is killed alone, too, elsewhere if not here. Otherwise what kills it must not do so with one of
   * them.
   */
  readonly aloneToo?: true;
};

/** One after the other, until one kills it. */
const seeds: readonly number[] = Array.from({ length: 10 }, (_, index) => index + 1);
/** Of one whose protection is needed in few worlds. */
const moreSeeds: readonly number[] = Array.from({ length: 20 }, (_, index) => index + 1);
/** Of one that is not expected to be killed. */
const seedsOfMasked = seeds.slice(0, 3);

const single = (name: Protection, more: Partial<Mutant> = {}): Mutant => ({
  name,
  removed: [name],
  world: { profile: stormy },
  seeds,
  hours: 1,
  ...more,
});

/** Late, lost and repeated writes while holders die and come back. */
const doubtfulStore: MutantWorld = {
  profile: { ...stormy, faultEveryMs: 4_000 },
  kinds: ['crash', 'store late write', 'store in doubt', 'queue duplicate'],
  roles: ['worker'],
};
/** Releases follow each other so fast that no run lives for much longer than half a minute. */
const deployments: MutantWorld = {
  profile: { ...stormy, faultEveryMs: 20_000 },
  kinds: ['release change'],
  flapping: { wellMs: 900_000, illMs: 900_000 },
};
/** Workers stand still between what they decide and what they write. */
const pausedCommits: MutantWorld = {
  profile: { ...stormy, faultEveryMs: 4_000 },
  kinds: ['pause'],
  roles: ['worker'],
  site: 'PROBE',
  flapping: { wellMs: 40_000, illMs: 40_000 },
};
/** Targets turn, and are registered again, while writes of those that stood still are under way. */
const pausedAndLateCommits: MutantWorld = {
  ...pausedCommits,
  kinds: ['pause', 'store late write', 'queue duplicate'],
  flapping: { wellMs: 15_000, illMs: 15_000 },
  restMs: 60_000,
};
const pausedProbes: MutantWorld = {
  profile: { ...stormy, faultEveryMs: 5_000 },
  kinds: ['pause'],
  roles: ['worker'],
  site: 'probe ',
};
/** For most of the storm the bus takes nothing, or half of what it is given. */
const brokenBus: MutantWorld = {
  profile: { ...stormy, faultEveryMs: 2_000 },
  kinds: ['bus partial', 'bus unreachable'],
  flapping: { wellMs: 600_000, illMs: 150_000 },
};
const skewedQueue: MutantWorld = {
  profile: { ...stormy, skewMsMax: 300_000, faultEveryMs: 2_500 },
  kinds: ['queue duplicate', 'queue answer lost', 'queue delay', 'clock jump'],
};
const lostQueue: MutantWorld = {
  profile: { ...stormy, faultEveryMs: 10_000 },
  kinds: ['queue unreachable', 'queue answer lost'],
  flapping: { wellMs: 40_000, illMs: 40_000 },
};
/**
 * In one layout for ever: who holds a shard of a new one claims it early, and only the fence keeps the old holder out.
 */
const lostQueueOfOneLayout: MutantWorld = { ...lostQueue, setting: 'site' };

/** Workers lose what lies between them and their targets. */
const lostNetworks: MutantWorld = {
  profile: { ...stormy, faultEveryMs: 20_000 },
  kinds: ['network loss'],
  roles: ['worker'],
};
/** Most of what is published is lost, or comes late. */
const lostEvents: MutantWorld = {
  profile: { ...stormy, faultEveryMs: 10_000 },
  kinds: ['delivery drop', 'delivery late', 'bus unreachable'],
};
/** Holders die before their first lease while ticks are missing, and their messages stay locked for long. */
const lockedGroups: MutantWorld = {
  profile: { ...stormy, queueVisibilityMs: 900_000, faultEveryMs: 15_000 },
  kinds: ['crash', 'tick missing'],
  roles: ['worker'],
  site: 'extend',
};

/** Most workers are cut off from their targets most of the time, and the shards go from one to the next. */
const cutOffDeployments: MutantWorld = {
  profile: { ...stormy, faultEveryMs: 12_000 },
  setting: 'watched',
  kinds: ['network loss', 'release change'],
  roles: ['worker'],
};
/** New layouts while some shards have no holder. */
const unheldLayouts: MutantWorld = {
  profile: { ...stormy, queueVisibilityMs: 900_000, faultEveryMs: 15_000 },
  setting: 'watched',
  kinds: ['crash', 'layout change'],
  roles: ['worker'],
  site: 'extend',
};

/** Schedules die after they have written a layout and before they have sent its messages. */
const deadSchedules: MutantWorld = {
  ...unheldLayouts,
  profile: { ...stormy, faultEveryMs: 8_000 },
  roles: ['schedule'],
  site: 'send',
};

/** Functions whose sandboxes lose what lies between them and their targets, some of them without their canaries. */
const lyingSandboxes: MutantWorld = {
  profile: { ...stormy, faultEveryMs: 60_000 },
  kinds: ['network loss'],
  roles: ['worker'],
  setting: 'sandboxes',
};

/** Targets of functions turn so often that other places look at them all the time, and nothing else goes wrong. */
const flappingFunctions: MutantWorld = {
  profile: { ...stormy, stormMs: 0 },
  setting: 'functions',
  flapping: { wellMs: 60_000, illMs: 60_000 },
};

/** All targets of a shard fail together, and nothing else goes wrong. */
const wholeSite: MutantWorld = { profile: { ...stormy, stormMs: 0 }, setting: 'site' };

/** Several shards of functions whose releases do not all start. */
const functionReleases: MutantWorld = {
  profile: { ...stormy, faultEveryMs: 300_000 },
  kinds: ['release change'],
  setting: 'releases',
};
/** All targets of a shard fail together, on a table that cannot take in at once what they are found to be. */
const scarceTable: MutantWorld = { profile: { ...stormy, stormMs: 0 }, setting: 'scarce' };

/** The API stands still between counting a change and writing it. */
const pausedApis: MutantWorld = {
  profile: { ...stormy, faultEveryMs: 8_000 },
  kinds: ['pause'],
  roles: ['api'],
  site: 'TARGET',
  flapping: { wellMs: 40_000, illMs: 40_000 },
};

/** status-sync stands still before it writes. */
const pausedSyncs: MutantWorld = { ...pausedApis, roles: ['sync'], site: 'STATUS' };

/** The crowd hangs, and nothing else goes wrong. */
const hangingOnly: MutantWorld = { profile: { ...stormy, stormMs: 0 }, setting: 'crowded', hangingFromMs: 150_000 };

const pair = (one: Protection, other: Protection, more: Partial<Mutant> = {}): Mutant => ({
  name: `${one} + ${other}`,
  removed: [one, other],
  world: { profile: stormy },
  seeds,
  hours: 1,
  ...more,
});

export const mutants: readonly Mutant[] = [
  single('no second look', { world: lyingSandboxes }),
  single('looks whatever the gate says', { world: flappingFunctions }),
  single('no canary of a route', { world: lyingSandboxes }),
  single('no fence', { world: pausedCommits }),
  single('per-item epoch', { world: pausedCommits }),
  single('claims that add', { world: doubtfulStore }),
  single('claims without a condition', { world: doubtfulStore }),
  single('unfenced beat'),
  single('no self-fence', { world: lostQueue, maskedBy: 'fence', seeds: seedsOfMasked }),
  single('stale message accepted', { world: skewedQueue, maskedBy: 'doneSlot', seeds: seedsOfMasked }),
  single('doneSlot ignored', { world: skewedQueue, maskedBy: 'stale message', seeds: seedsOfMasked }),
  single('no CAS', { world: pausedAndLateCommits }),
  single('no read-back', { world: { ...doubtfulStore, flapping: { wellMs: 40_000, illMs: 40_000 } } }),
  single('no checkpoint', { world: deployments }),
  single('thresholds reset at hand-over', { world: deployments }),
  single('streak break not persisted', { world: deployments }),
  single('no version order (status)'),
  single('no version order (acks)', { world: lostEvents }),
  single('upsert instead of conditional update', { world: pausedCommits }),
  single('FailedEntryCount ignored', { world: brokenBus }),
  single('outbox cleared on PutEvents', { world: brokenBus }),
  single('no outbox', { world: brokenBus }),
  single('no reconcile', { world: lostEvents }),
  single('changes of a predecessor not published', { world: lostEvents, seeds: moreSeeds }),
  single('no canary', { world: lostNetworks }),
  single('no stall detector', { world: pausedProbes }),
  single('readiness taken for liveness'),
  single('purged at once'),
  single('no back-off'),
  single('restarts not taken in'),
  single('recovered without a verdict'),
  single('static workers on hold'),
  single('requests told once', { world: lostEvents }),
  single('initial delay ignored'),
  single('stale ten times later'),
  single('no holder never told', { world: lockedGroups }),
  single('recovery of a shard not published', { world: lockedGroups }),
  single('layout followed unannounced', { world: deadSchedules }),
  single('doubt never told', { world: lostNetworks }),
  single('no socket limit', { world: hangingOnly, seeds: [1] }),
  single('no late probes', { world: hangingOnly, seeds: [1] }),
  single('nothing owed at hand-over', { world: deployments }),
  single('no surge limit', { world: wholeSite }),
  single('a throttle taken for doubt', { world: scarceTable }),
  single('no pause after a throttle', { world: scarceTable }),
  single('no slower rate after a throttle', { world: scarceTable }),
  single('beats behind commits', { world: scarceTable }),
  single('no trial of a release', { world: functionReleases }),
  single('doubt and delay not inherited', { world: cutOffDeployments }),
  single('RUN of another layout believed', { world: unheldLayouts }),
  single('changes counted once', { world: pausedApis }),
  single('open targets not read again', { world: pausedSyncs, seeds: moreSeeds }),
  single('rescues refused', { world: lockedGroups }),
  pair('no self-fence', 'no fence', { world: lostQueueOfOneLayout }),
  pair('stale message accepted', 'doneSlot ignored', { world: skewedQueue, seeds: moreSeeds }),
  pair('claims that add', 'no self-fence', { world: doubtfulStore, aloneToo: true }),
  pair('no outbox', 'no reconcile', { world: brokenBus, aloneToo: true }),
];
