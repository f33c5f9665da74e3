/**
 * One run: a shard held for a slot. Lambda, the local runtime and a simulation only host it; everything it needs of the world is an
 * argument, and when it returns nothing of it is left pending.
 */

import { sleep, within } from '../lib/clock.ts';
import { QueueUnavailable, type ShardMessage } from '../queue/queue.ts';
import type { Poison } from '../store/items.ts';
import { StoreUnavailable } from '../store/store.ts';
import { type BeatState, type Beats, beatsOf, heartbeat, visibilityMs } from './beat.ts';
import { checkpointer } from './checkpoint.ts';
import { type Claimed, claimRun, takeToken } from './claim.ts';
import type { Holder } from './holder.ts';
import { type Loaded, type Loader, shardLoader } from './load.ts';
import { type Kept, removeSeries, type ShardMemory } from './memory.ts';
import { holderOf } from './new-holder.ts';
import type { Ports } from './ports.ts';
import { type Loop, startLoop } from './probing/due-loop.ts';
import { quarantinedProbes } from './probing/hung-probe.ts';
import { probeCycle } from './probing/probe-cycle.ts';
import { shiftSchedule } from './probing/probe-schedule.ts';
import { shiftSeen } from './probing/probe-verdict.ts';
import type { SocketBudget } from './probing/sockets.ts';
import { tendTargets } from './probing/timekeeper.ts';
import { readingsOf, type TargetReading } from './readings.ts';
import { type Run, type RunEnd, startRun } from './run.ts';
import { coveredBy, shifted, tickOnce } from './tick.ts';

/** Probes in flight at the end of a run have this long; the rest are void and run again first thing in the next one. */
const drainMs = 2_000;
/** What was abandoned answers within this. */
const abandonMs = 500;
/** More than the store takes at most to answer or to give up. */
const openCallsMs = 10_000;

export type RunView = {
  readonly shard: string;
  readonly token: number;
  readonly targets: number;
  readonly probes: number;
  readonly inFlight: number;
  /** As the next beat will say it. */
  readonly beat: BeatState;
  /** Since the last beat that succeeded began. */
  readonly beatAgeMs: number;
  readonly quarantined: readonly Poison[];
  /** Each target that is held, read when it is asked for. */
  readings(): Iterable<TargetReading>;
};

export type RunOptions = {
  /** The release that runs this code; LAYOUT may desire another one. */
  readonly release?: string;
  readonly memory?: ShardMemory;
  /** Of the process, shared by all that it holds; absent: it holds nothing else. */
  readonly socketBudget?: SocketBudget;
  /** Ends the run early and in order. */
  readonly stop?: AbortSignal;
  /** The message was received before, as far as the queue knows. */
  readonly redelivered?: boolean;
  /** How far this process's wall clock is ahead of the schedule's; absent: they agree. */
  readonly aheadMs?: number;
  /** Called once, when every target is loaded, with a look into the run. */
  readonly onLoaded?: (view: () => RunView) => void;
};

/**
 * Holds the shard until `deadlineMs` (wall clock), a stop, a fence or a doubt. Never throws: an exception is a doubt, logged.
 */
export async function runShard(
  ports: Ports,
  message: ShardMessage,
  deadlineMs: number,
  options: RunOptions = {},
): Promise<RunEnd> {
  try {
    if (ports.clock.nowMs() >= deadlineMs) return { kind: 'stale' };
    const startedAtMs = ports.clock.monotonicMs();
    const left = { deadlineMs, endsAtMs: startedAtMs + deadlineMs - ports.clock.nowMs() };
    if (!(await ports.lease.extend(visibilityMs))) return { kind: 'doubt', reason: 'the lease was refused' };
    const taken = await takeToken(ports, message);
    if (taken === undefined) return { kind: 'stale' };
    const { release = '', aheadMs = 0 } = options;
    const run = startRun({ ports, message, ...taken, startedAtMs, release, aheadMs });
    // What already runs in the background has to end with it.
    const onThrow = () => run.end({ kind: 'doubt', reason: 'the run failed' });
    return await hold(run, left, options).finally(onThrow);
  } catch (cause) {
    const outOfReach = cause instanceof StoreUnavailable || cause instanceof QueueUnavailable;
    ports.log[outOfReach ? 'warn' : 'error']('run failed', { shard: message.shard, cause });
    return { kind: 'doubt', reason: outOfReach ? 'store or queue out of reach' : 'an exception' };
  }
}

/** The end of the run by both clocks: the wall clock may be set while it goes on. */
type Left = { readonly deadlineMs: number; readonly endsAtMs: number };

/**
 * Workers that are not kept for the next run end here, with their metric series; but where the run ends in doubt this process may well hold
 * the shard again, and counts on.
 */
async function hold(run: Run, left: Left, options: RunOptions): Promise<RunEnd> {
  const { shard, generation } = run.message;
  const { metrics, clock } = run.ports;
  const { memory } = options;
  const remembered = memory?.get(shard);
  memory?.delete(shard);
  const kept = remembered?.loaded && remembered.generation === generation ? remembered : undefined;
  let before: Holder['targets'] = remembered?.targets ?? new Map();
  let targets = before;
  let isKept = false;
  try {
    const claimed = await claimRun(run, kept?.token);
    if (claimed.kind === 'refused') {
      run.end({ kind: 'stale' });
      return { kind: 'stale' };
    }
    const warm = claimed.kind === 'warm' ? kept : undefined;
    if (!warm) targets = new Map();
    const onLoaded = () => {
      removeSeries(metrics, before, targets);
      before = targets;
    };
    const { end, loaded, wallOffsetMs } = await holdClaimed(run, { claimed, warm, targets, left, options, onLoaded });
    if (memory && (loaded || end.kind === 'doubt')) {
      memory.set(shard, { generation, token: run.token, targets, loaded, keptAtMs: clock.monotonicMs(), wallOffsetMs });
      isKept = true;
    }
    return end;
  } finally {
    removeSeries(metrics, before, targets);
    if (!isKept) removeSeries(metrics, targets);
  }
}

type Holding = {
  readonly claimed: Exclude<Claimed, { readonly kind: 'refused' }>;
  readonly warm: Kept | undefined;
  readonly targets: Holder['targets'];
  readonly left: Left;
  readonly options: RunOptions;
  readonly onLoaded: () => void;
};

/** `loaded`: what the next run may go on with. */
type Held = { readonly end: RunEnd; readonly loaded?: Loaded; readonly wallOffsetMs: number };

async function holdClaimed(run: Run, { claimed, warm, targets, left, options, onLoaded }: Holding): Promise<Held> {
  const loop = startLoop(run, options.socketBudget, warm?.wallOffsetMs);
  const { inherited } = claimed;
  const holder = holderOf(run, loop, {
    targets,
    takenOver: claimed.kind === 'cold' ? { unheldSinceMs: claimed.unheldSinceMs, inherited } : undefined,
    inDoubt: inherited.degraded,
  });
  const loader = shardLoader(holder, warm?.loaded);
  const checkpoints = checkpointer(holder, loader);
  const beats = beatsOf(holder, loop, inherited);
  let isCovered = false;
  // The beat begins before the load: a large shard takes longer to load than its lease lasts.
  const { keep, last } = heartbeat(run, beats);
  const background = [guarded(run, keep())];
  if (await (warm ? loader.catchUp() : loader.loadAll())) {
    holder.takenOver = undefined;
    onLoaded();
    options.onLoaded?.(() => viewOf({ holder, loop, loader, beats }));
    loop.start({
      cycle: (held, probe, place) => probeCycle(holder, held, { probe, place }),
      tend: (due) => tendTargets(holder, due),
      jumped: (jumpMs) => shiftAll(holder, jumpMs),
    });
    if (warm) scheduleAll(holder);
    background.push(guarded(run, loader.follow()), guarded(run, checkpoints.keep()));
    isCovered = await untilDone({ holder, loop, claimed, ...left }, options.stop);
  }
  const idle = await drained(holder, loop);
  await holder.commits.drained();
  const isTick = run.message.mode === 'tick';
  await checkpoints.writeLast(isTick ? undefined : run.ports.clock.nowMs());
  // A slot that was left early is not done: whoever comes next goes on with it.
  const wish = run.wish() ?? { kind: 'slotDone' };
  const isDone = isCovered && wish.kind === 'slotDone';
  if (reportsItsEnd(wish)) await last(isDone ? { doneSlot: run.message.slot } : {});
  run.end(wish);
  await Promise.all(background);
  await holder.publisher.drained();
  // A function is frozen when it returns: an answer that is still to come would be read in the middle of its next invocation.
  await within(run.ports.clock, loop.stopped(), openCallsMs);
  const end = run.ended() ?? { kind: 'slotDone' };
  return {
    end,
    wallOffsetMs: loop.wallOffsetMs(),
    ...(idle && end.kind === 'slotDone' && { loaded: loader.loaded() }),
  };
}

/** Whoever goes on with a rescue or with the next slot, or has asked the run to leave, looks for a beat first. */
const reportsItsEnd = ({ kind }: RunEnd): boolean => kind === 'slotDone' || kind === 'asked' || kind === 'handover';

/** After a warm start every worker goes on where its ticker is, and every target is looked at once. */
function scheduleAll(holder: Pick<Holder, 'run' | 'targets' | 'schedule' | 'scheduleTarget'>): void {
  for (const held of holder.targets.values()) {
    holder.scheduleTarget(held, holder.run.ports.clock.nowMs());
    for (const probe of held.probes.values()) holder.schedule(held, probe);
  }
}

/** Wall time jumped: every ticker keeps its distance from now, and every target is looked at. */
function shiftAll(holder: Holder, jumpMs: number): void {
  const nowMs = holder.run.ports.clock.nowMs();
  holder.run.ports.log.warn('wall time jumped', { shard: holder.run.message.shard, jumpMs });
  for (const held of holder.targets.values()) {
    for (const probe of held.probes.values()) {
      shiftSchedule(probe.schedule, jumpMs, nowMs);
      shiftSeen(probe.verdict, jumpMs);
    }
    held.syncAskedAtMs += jumpMs;
    for (const [name, unacked] of held.unacked)
      held.unacked.set(name, { ...unacked, publishedAtMs: unacked.publishedAtMs + jumpMs });
  }
  scheduleAll(holder);
  holder.self.jumped(jumpMs);
}

/** Until nothing is in flight. What takes too long, or what a run that has ended left open, is destroyed; whether nothing is left. */
async function drained({ run, self }: Pick<Holder, 'run' | 'self'>, loop: Loop): Promise<boolean> {
  const stopped = loop.stopped();
  await within(run.ports.clock, stopped, drainMs, run.signal);
  if (loop.inFlight() > 0) loop.abandon();
  run.ports.abandon();
  await self.stop();
  await within(run.ports.clock, stopped, abandonMs);
  return loop.inFlight() === 0;
}

type Underway = {
  readonly holder: Holder;
  readonly loop: Loop;
  readonly claimed: Exclude<Claimed, { readonly kind: 'refused' }>;
} & Left;

/** Until the slot is over or, in tick mode, done, the run has ended or wants to, or the host stops; false: it is to be done again. */
async function untilDone(held: Underway, stop: AbortSignal | undefined): Promise<boolean> {
  const { run } = held.holder;
  const onStop = () => run.leave({ kind: 'handover' });
  if (stop?.aborted) onStop();
  stop?.addEventListener('abort', onStop);
  try {
    return await (run.message.mode === 'tick' ? ticked(held) : untilDeadline(run, held.endsAtMs));
  } finally {
    stop?.removeEventListener('abort', onStop);
  }
}

async function untilDeadline({ ports, leaving }: Run, endsAtMs: number): Promise<boolean> {
  await sleep(ports.clock, endsAtMs - ports.clock.monotonicMs(), leaving);
  return true;
}

function ticked({ holder, loop, claimed, deadlineMs }: Underway): Promise<boolean> {
  const { ports, message, aheadMs } = holder.run;
  const unheldSinceMs = claimed.kind === 'cold' ? claimed.unheldSinceMs : ports.clock.nowMs();
  const covered = coveredBy(message, claimed.before, unheldSinceMs - aheadMs);
  return tickOnce(holder, loop, { covered: shifted(covered, aheadMs), deadlineMs });
}

/** A part of the run that throws ends the run: half a run would keep a false beat. */
function guarded(run: Run, work: Promise<void>): Promise<void> {
  return work.catch((cause: unknown) => {
    run.ports.log.error('a part of the run failed', { shard: run.message.shard, cause });
    run.end({ kind: 'doubt', reason: 'a part of the run failed' });
  });
}

type Viewed = { readonly holder: Holder; readonly loop: Loop; readonly loader: Loader; readonly beats: Beats };

function viewOf({ holder, loop, loader, beats }: Viewed): RunView {
  const held = [...holder.targets.values()];
  const { ports, message, token, confirmedAtMs } = holder.run;
  return {
    shard: message.shard,
    token,
    targets: held.length,
    probes: held.reduce((count, { probes }) => count + probes.size, 0),
    inFlight: loop.inFlight(),
    beat: beats.observe(),
    beatAgeMs: ports.clock.monotonicMs() - confirmedAtMs(),
    quarantined: [...loader.quarantined(), ...held.flatMap(quarantinedProbes)],
    readings: () => readingsOf(holder),
  };
}
