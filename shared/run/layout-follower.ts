/**
 * What LAYOUT asks of a run, looked for after each beat: a new generation of its shard ends it, and so does another release, in order.
 * Holders of shards that become one leave together (record 36): who left at his own beat would leave his targets alone for as long as
 * the others still hold the group that the new shard's message waits in.
 */
import { generationAttribute } from '../store/items.ts';
import { layoutKey, targetHash } from '../store/keys.ts';
import { type Item, StoreUnavailable } from '../store/store.ts';
import { fencedPorts } from './ports.ts';
import type { Run, RunEnd } from './run.ts';

/** A run lives this long at least, or a release that never comes would keep all shards handing over. */
const handoverEarliestMs = 45_000;
/** A deployment may not start every run anew at the same moment; within a minute all have moved on. */
const staggerMaxMs = 45_000;

/** `inMs`: from 0 to the interval of the looks. */
export type Leave = { readonly inMs: number; readonly as: RunEnd };

/**
 * A look into LAYOUT, which every holder takes each `intervalMs`; undefined: the run stays. A version older than the claim's says nothing
 * about this run. LAYOUT out of reach is no reason to stop: the token says who may commit. The read is consistent: of holders that leave
 * together, one that saw the layout a beat later would keep the others' targets waiting.
 */
export function layoutFollower(run: Run, intervalMs: number): () => Promise<Leave | undefined> {
  const { store, clock } = fencedPorts(run.ports);
  let releaseMovedAtMs: number | undefined;

  /** Monotonic; undefined: this release may stay. */
  const handoverDueMs = ({ desiredRelease }: Item): number | undefined => {
    const isOther = typeof desiredRelease === 'string' && desiredRelease !== '' && desiredRelease !== run.release;
    releaseMovedAtMs = isOther ? (releaseMovedAtMs ?? clock.monotonicMs()) : undefined;
    if (releaseMovedAtMs === undefined) return undefined;
    return Math.max(run.startedAtMs + handoverEarliestMs, releaseMovedAtMs + staggerMs(run.message.shard));
  };

  /** Clocks that disagree cost an interval at most. */
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
 * Whether LAYOUT, read consistently, still has the run's shard as the run holds it: whoever claims a part of it from now on reads what the
 * run has written so far. false: it has not, or is out of reach.
 */
export async function isInLayout({ ports, message }: Run): Promise<boolean> {
  const item = await orUndefined(fencedPorts(ports).store.get(layoutKey));
  return item?.[generationAttribute(message.shard)] === message.generation;
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

/** Nobody could come after a run that leaves earlier. */
const isAnnounced = ({ version, announced }: Item): boolean =>
  typeof version !== 'number' || (typeof announced === 'number' && announced >= version);

const staggerMs = (shard: string): number => Number.parseInt(targetHash('shard', shard).slice(0, 8), 16) % staggerMaxMs;
