/**
 * The beat of a run: every 5 s RUN says that the shard is held and how far its probes are, on condition of the run's token. A lost
 * token, a refused lease or 12 s without a successful beat ends the run: whoever is in doubt stops.
 */
import { sleep } from '../lib/clock.ts';
import { QueueUnavailable } from '../queue/queue.ts';
import { generationAttribute } from '../store/items.ts';
import { layoutKey, runKey, targetHash } from '../store/keys.ts';
import { type Item, StoreUnavailable } from '../store/store.ts';
import { beatConditions } from './fence.ts';
import type { Run } from './run.ts';

export const beatIntervalMs = 5_000;
/** After a beat that failed. */
const retryMs = 500;
export const visibilityMs = 15_000;
/** The last beat of a run that ends in order says so by its number. */
export const lastBeat = -1;

export type BeatState = {
  /** When the loop last had no due probe left, ms since the epoch. */
  readonly observedAtMs: number;
  readonly late: readonly string[];
  readonly lateOverflow: boolean;
  /** What subscribers were last told. */
  readonly degradedTold: boolean;
  /** Set while the prober doubts itself. */
  readonly doubt?: Doubt;
};

export type Doubt = { readonly reason: string; readonly sinceMs: number };

export type Beats = {
  readonly observe: () => BeatState;
  /** This has been written. */
  readonly written: (state: BeatState) => void;
};

/** Beats until the run ends. A beat that failed is tried again soon: two in a row may not cost the lease. */
export async function keepBeating(run: Run, { observe, written }: Beats): Promise<void> {
  const { clock } = run.ports;
  let pauseMs = beatIntervalMs;
  let releaseMovedAtMs: number | undefined;
  for (let beat = 1; !run.ended(); beat += 1) {
    await sleep(clock, pauseMs, run.signal);
    if (!run.inForce()) return;
    const startedAtMs = clock.monotonicMs();
    const state = observe();
    const beaten = await beatOnce(run, beat, state);
    if (beaten) {
      written(state);
      run.confirm(startedAtMs);
      releaseMovedAtMs = await layoutFollowed(run, releaseMovedAtMs);
    }
    pauseMs = beaten ? beatIntervalMs : retryMs;
  }
}

/** true: the lease and the token are still the run's. */
async function beatOnce(run: Run, beat: number, state: BeatState): Promise<boolean> {
  try {
    if (!(await run.ports.lease.extend(visibilityMs))) run.end({ kind: 'doubt', reason: 'the lease was refused' });
    else if (run.inForce() && !(await writeBeat(run, beat, state, {}))) run.end({ kind: 'fenced' });
    return !run.ended();
  } catch (error) {
    if (!(error instanceof StoreUnavailable) && !(error instanceof QueueUnavailable)) throw error;
    run.ports.log.warn('beat not written', { shard: run.message.shard, cause: error.message });
    return false;
  }
}

/** LAYOUT out of reach is no reason to stop: the token says who may commit. */
async function layoutFollowed(run: Run, releaseMovedAtMs: number | undefined): Promise<number | undefined> {
  try {
    return await followLayout(run, releaseMovedAtMs);
  } catch (error) {
    if (!(error instanceof StoreUnavailable)) throw error;
    return releaseMovedAtMs;
  }
}

/** false: another token stands in RUN. */
export async function writeBeat(
  run: Run,
  beat: number,
  state: BeatState,
  more: { readonly doneSlot?: number },
): Promise<boolean> {
  const beatAtMs = run.ports.clock.nowMs();
  const { observedAtMs, late, lateOverflow, degradedTold, doubt } = state;
  const observed = { observedAtMs, degraded: doubt !== undefined, degradedTold, late, lateOverflow };
  const outcome = await run.ports.store.write(
    [
      {
        kind: 'update',
        key: runKey(run.message.shard),
        set: { beat, beatAtMs, ...observed, ...more },
        if: beatConditions(run),
      },
    ],
    { token: run.ports.random.uuid() },
  );
  // A beat in doubt harms nothing: the next one follows, and the self-fence counts.
  return outcome.kind !== 'refused' || outcome.refusals.some((refusal) => refusal.kind === 'conflict');
}

/** A new generation of the shard ends the run, and so does another release, in order and not all shards together. */
async function followLayout(run: Run, releaseMovedAtMs: number | undefined): Promise<number | undefined> {
  const item = await run.ports.store.get(layoutKey, { eventuallyConsistent: true });
  if (item === undefined) return releaseMovedAtMs;
  const isMoved = item[generationAttribute(run.message.shard)] !== run.message.generation;
  if (isMoved && isAnnounced(item)) run.leave({ kind: 'moved' });
  const desired = item.desiredRelease;
  if (typeof desired !== 'string' || desired === '' || desired === run.release) return undefined;
  const nowMs = run.ports.clock.monotonicMs();
  const sinceMs = releaseMovedAtMs ?? nowMs;
  const dueMs = Math.max(run.startedAtMs + handoverEarliestMs, sinceMs + staggerMs(run.message.shard));
  if (nowMs >= dueMs) run.leave({ kind: 'handover' });
  return sinceMs;
}

/** Nobody could come after a run that leaves earlier. */
const isAnnounced = ({ version, announced }: Item): boolean =>
  typeof version !== 'number' || (typeof announced === 'number' && announced >= version);

/** A run lives this long at least, or a release that never comes would keep all shards handing over. */
const handoverEarliestMs = 45_000;
/** A deployment may not start every run anew at the same moment; within a minute all have moved on. */
const staggerMaxMs = 45_000;

const staggerMs = (shard: string): number => Number.parseInt(targetHash('shard', shard).slice(0, 8), 16) % staggerMaxMs;
