/**
 * Reads LAYOUT for a run after each beat: a new generation of its shard ends the run, and another release ends it too,
 * in order. Holders of shards that are merged leave together (record 36). If each left right after its beat, the
 * targets of the first would have no holder until the others released the group in which the merged shard's message
 * waits.
 */
import { generationAttribute } from '../store/records/items.ts';
import { layoutKey, targetHash } from '../store/records/keys.ts';
import { type Item, StoreUnavailable } from '../store/store.ts';
import { fencedPorts, type Run, type RunEnd } from './run.ts';

/**
 * Minimum lifetime of a run. Without it, a desired release that is never deployed would make all shards hand over
 * continuously.
 */
const handoverEarliestMs = 45_000;
/**
 * A deployment must not restart every run at the same moment. Within a minute all runs have moved to the new release.
 */
const staggerMaxMs = 45_000;

/** `inMs`: between 0 and the interval at which LAYOUT is read. */
export type Leave = { readonly inMs: number; readonly as: RunEnd };

/**
 * Returns a function that reads LAYOUT; every holder calls it each `intervalMs`. It returns undefined if the run stays.
 * A version older than the claim's says nothing about this run. An unreachable LAYOUT is no reason to stop: the token
 * says who may commit. The read is consistent: when holders leave together, one that sees the layout a beat later keeps
 * the others' targets waiting.
 */
export function layoutFollower(run: Run, intervalMs: number): () => Promise<Leave | undefined> {
  const { store, clock } = fencedPorts(run.ports);
  let releaseMovedAtMs: number | undefined;

  /** Monotonic; undefined if this release may stay. */
  const handoverDueMs = (item: Item): number | undefined => {
    const { desiredRelease } = item;
    const { shard } = run.message;
    const trial = trialIn(item);
    const isOther = typeof desiredRelease === 'string' && desiredRelease !== '' && desiredRelease !== run.release;
    const follows = isOther && (trial ?? shard) === shard;
    releaseMovedAtMs = follows ? (releaseMovedAtMs ?? clock.monotonicMs()) : undefined;
    if (releaseMovedAtMs === undefined) return undefined;
    const waitMs = trial === undefined ? staggerMs(shard) : 0;
    return Math.max(run.startedAtMs + handoverEarliestMs, releaseMovedAtMs + waitMs);
  };

  /** Time until every holder has read the layout. Clocks that disagree cost at most one interval. */
  const untilAllKnowMs = ({ announcedAtMs }: Item): number => {
    if (typeof announcedAtMs !== 'number') return 0;
    return Math.min(Math.max(announcedAtMs + intervalMs - clock.nowMs(), 0), intervalMs);
  };

  return async () => {
    const item = await orUndefined(store.get(layoutKey));
    if (item === undefined || versionOf(item) < run.layoutVersion) return undefined;
    const isMoved = item[generationAttribute(run.message.shard)] !== run.message.generation;
    if (isMoved && versionOf(item) > run.layoutVersion && isAnnounced(item))
      return { inMs: untilAllKnowMs(item), as: { kind: 'moved' } };
    const dueMs = handoverDueMs(item);
    return dueMs !== undefined && clock.monotonicMs() >= dueMs ? { inMs: 0, as: { kind: 'handover' } } : undefined;
  };
}

/**
 * Whether LAYOUT, read consistently, still has the run's shard in the run's generation. If so, every later claim of a
 * part of the shard reads what the run has written so far. Returns false also if LAYOUT is unreachable.
 */
export async function isInLayout({ ports, message }: Run): Promise<boolean> {
  const item = await orUndefined(fencedPorts(ports).store.get(layoutKey));
  return item?.[generationAttribute(message.shard)] === message.generation;
}

/** The only shard that follows the desired release; undefined: all do. */
function trialIn({ trial }: Item): string | undefined {
  if (typeof trial !== 'object' || trial === null || !('shard' in trial)) return undefined;
  return typeof trial.shard === 'string' ? trial.shard : undefined;
}

const versionOf = ({ version }: Item): number => (typeof version === 'number' ? version : 0);

async function orUndefined(read: Promise<Item | undefined>): Promise<Item | undefined> {
  try {
    return await read;
  } catch (error) {
    if (!(error instanceof StoreUnavailable)) throw error;
    return undefined;
  }
}

/** If a run left before the announcement, no other run could follow it. */
const isAnnounced = ({ version, announced }: Item): boolean =>
  typeof version !== 'number' || (typeof announced === 'number' && announced >= version);

const staggerMs = (shard: string): number => Number.parseInt(targetHash('shard', shard).slice(0, 8), 16) % staggerMaxMs;
