/**
 * The beat of a run: every 5 s it writes to RUN that the shard is held and how current its probes are, conditional on
 * the run's token. A lost token, a refused lease or 12 s without a successful beat ends the run: a run in doubt stops.
 */
import { lastBeat } from '../core/shards/beat.ts';
import { sleep } from '../lib/clock.ts';
import { QueueUnavailable } from '../queue/queue.ts';
import { runKey } from '../store/records/keys.ts';
import { type Condition, StoreUnavailable } from '../store/store.ts';
import type { Holder } from './holder.ts';
import { type Inherited, observedNow } from './inherited.ts';
import { layoutFollower } from './layout-follower.ts';
import type { DueLoop } from './probing/due-loop.ts';
import { fencedPorts, type Run } from './run.ts';
import { type BeatState, type Doubt, doubtPublisher, overloadPublisher } from './self-check/events.ts';

export const beatIntervalMs = 5_000;
/** Pause after a failed beat. */
const retryMs = 500;
/**
 * While the table has no capacity a beat is tried again sooner than anything else, which waits for up to 2 s: the run
 * lives by it, and it is the smallest write of all.
 */
const throttledPauseMsMax = 150;
export const visibilityMs = 15_000;

export type Beats = {
  readonly observe: () => BeatState;
  /** Called after a beat with this state has been written. */
  readonly written: (state: BeatState) => Promise<void>;
};

export type Heartbeat = {
  /**
   * Beats until the run ends or writes its last beat. A failed beat is retried soon, so that two failures in a row do
   * not cost the lease.
   */
  keep(): Promise<void>;
  /**
   * Writes the last beat, which no other follows. Its number says that the run has ended in order. `doneSlot`: the
   * run's slot is done.
   */
  last(more: Done): Promise<void>;
};

type Done = { readonly doneSlot?: number };

/**
 * The beats of this run. A beat that the store or the queue did not accept is retried. `last` throws StoreUnavailable,
 * and the run then ends in doubt.
 */
export function heartbeat(run: Run, { observe, written }: Beats): Heartbeat {
  const { clock } = run.ports;
  const lookForLeave = layoutFollower(run, beatIntervalMs);
  let underWay: Promise<unknown> = Promise.resolve();
  let isOver = false;
  const keep = async () => {
    let pauseMs = beatIntervalMs;
    for (let beat = 1; !isOver && !run.ended(); beat += 1) {
      await sleep(clock, pauseMs, run.signal);
      if (isOver || !run.inForce()) return;
      const startedAtMs = clock.monotonicMs();
      const state = observe();
      const beating = beatOnce(run, beat, state);
      underWay = beating;
      const beaten = await beating;
      if (beaten) {
        run.confirm(startedAtMs);
        await written(state);
      }
      pauseMs = beaten ? beatIntervalMs : retryMs;
      const leave = beaten && (await lookForLeave());
      if (!leave) continue;
      await sleep(clock, leave.inMs, run.signal);
      run.leave(leave.as);
      pauseMs -= leave.inMs;
    }
  };
  const last = async (more: Done) => {
    isOver = true;
    await underWay;
    const state = observe();
    if (run.inForce() && (await writeBeat(run, lastBeat, state, more)) === 'written') await written(state);
  };
  return { keep, last };
}

/** Returns true if the run still has its lease and its token, false if it does not or if that is unknown. */
async function beatOnce(run: Run, beat: number, state: BeatState): Promise<boolean> {
  try {
    if (!(await run.ports.lease.extend(visibilityMs))) run.end({ kind: 'doubt', reason: 'the lease was refused' });
    if (!run.inForce()) return false;
    const beaten = await writeBeat(run, beat, state, {});
    if (beaten === 'fenced') run.end({ kind: 'fenced' });
    return beaten === 'written' && !run.ended();
  } catch (error) {
    if (!(error instanceof StoreUnavailable) && !(error instanceof QueueUnavailable)) throw error;
    run.ports.log.warn('beat not written', { shard: run.message.shard, cause: error });
    return false;
  }
}

const doubtOf = ({ reason, route, sinceMs }: Doubt): Doubt => ({ reason, ...(route && { route }), sinceMs });

/**
 * `fenced`: RUN has another token. `unknown`: the write is in doubt, or lost a conflict. It confirms nothing, so it is
 * repeated, and the run's self-fence keeps counting from the last beat that was written.
 */
export type Beaten = 'written' | 'fenced' | 'unknown';

export async function writeBeat(run: Run, beat: number, state: BeatState, more: Done): Promise<Beaten> {
  const beatAtMs = run.ports.clock.nowMs();
  const { observedAtMs, behind, degradedTold, doubt, overloadedTold, overload } = state;
  const doubted = { degraded: doubt !== undefined, degradedTold };
  const observed = { observedAtMs, ...doubted, overloaded: overload !== undefined, overloadedTold, behind };
  const { store, random } = fencedPorts(run.ports, throttledPauseMsMax);
  const outcome = await store.write(
    [
      {
        kind: 'update',
        key: runKey(run.message.shard),
        set: { beat, beatAtMs, ...observed, ...more },
        if: beatConditions(run),
      },
    ],
    { token: random.uuid() },
  );
  if (outcome.kind === 'written') {
    if (outcome.item?.leave === run.token) run.leave({ kind: 'asked' });
    return 'written';
  }
  const isFenced = outcome.kind === 'refused' && outcome.refusals.every((refusal) => refusal.kind === 'condition');
  return isFenced ? 'fenced' : 'unknown';
}

/** Condition of a beat: RUN still has the token of the run. */
export const beatConditions = ({ token }: Pick<Run, 'token'>): readonly Condition[] => [
  { kind: 'equals', attribute: 'token', value: token },
];

/**
 * `observedAtMs` does not advance while a due probe has not begun, nor while the prober doubts itself, because its
 * probes are void then. Probes that have not been done for long are named with the time when they were last done. Until
 * the shard is loaded, both values are those that the previous run left.
 */
export function beatsOf(holder: Holder, loop: DueLoop, inherited: Inherited): Beats {
  const { clock } = holder.run.ports;
  const tick = holder.run.message.mode === 'tick';
  const doubtEvents = doubtPublisher(holder, inherited);
  const overloadEvents = overloadPublisher(holder, inherited);
  if (inherited.overloaded) loop.inheritOverload();
  let { observedAtMs } = inherited;
  const observed = () =>
    holder.takenOver
      ? { observedAtMs, behind: inherited.behind, late: 0 }
      : observedNow(holder.targets.values(), { nowMs: clock.nowMs(), tick, observedAtMs });
  const observe = (): BeatState => {
    const health = holder.self.health();
    if (!holder.takenOver && !loop.behind() && health.kind !== 'doubtful') observedAtMs = clock.nowMs();
    const doubt = health.kind === 'doubtful' && doubtOf(health);
    const overload = loop.overload();
    return {
      ...observed(),
      degradedTold: doubtEvents.published(doubt !== false),
      ...(doubt && { doubt }),
      overloadedTold: overloadEvents.published(overload !== undefined),
      ...(overload && { overload }),
    };
  };
  const written = async (state: BeatState) => {
    holder.publishSurge();
    await doubtEvents.written(state);
    await overloadEvents.written(state);
  };
  return { observe, written };
}
