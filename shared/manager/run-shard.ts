/**
 * One run: a shard held for a slot. Lambda, the local runtime and a simulation only host it; everything it needs of the world is an
 * argument, and when it returns nothing of it is left pending.
 */

import { shiftTicker } from '../core/ticker.ts';
import { sleep, within } from '../lib/clock.ts';
import { QueueUnavailable, type ShardMessage } from '../queue/queue.ts';
import { StoreUnavailable } from '../store/store.ts';
import { type BeatState, type Beats, keepBeating, lastBeat, visibilityMs, writeBeat } from './beat.ts';
import { checkpointEntries, checkpointIntervalMs, writeCheckpoints } from './checkpoint.ts';
import { type Claimed, claimRun, takeToken } from './claim.ts';
import { doubtTeller } from './doubt-events.ts';
import type { Holder } from './holder.ts';
import { lateProbes } from './late.ts';
import { type Loaded, type Loader, shardLoader } from './load.ts';
import { type Loop, startLoop } from './loop.ts';
import { holderOf } from './new-holder.ts';
import type { Ports } from './ports.ts';
import type { Inherited } from './predecessors.ts';
import { probeCycle } from './probe-cycle.ts';
import type { Poison } from './read-target.ts';
import type { Room } from './room.ts';
import { type Run, type RunEnd, startRun } from './run.ts';
import { coveredBy, tickOnce } from './tick.ts';
import { tendTarget } from './timekeeper.ts';

/** Probes in flight at the end of a run have this long; the rest are void and run again first thing in the next one. */
const drainMs = 2_000;
/** What was abandoned answers within this. */
const abandonMs = 500;

export type RunView = {
  readonly token: number;
  readonly targets: number;
  readonly probes: number;
  readonly inFlight: number;
  /** As the next beat will say it. */
  readonly beat: BeatState;
  readonly quarantined: readonly Poison[];
};

/** What a process remembers of the shards that it held last; whether it may go on with it is decided at the claim. */
export type ShardMemory = Map<string, Kept>;

type Kept = {
  readonly token: number;
  /** Of another generation's range some buckets are somebody else's by now. */
  readonly generation: number;
  readonly targets: Holder['targets'];
  readonly loaded: Loaded;
};

export type RunOptions = {
  /** The release that runs this code; LAYOUT may desire another one. */
  readonly release?: string;
  readonly memory?: ShardMemory;
  /** Of the process, shared by all that it holds; absent: it holds nothing else. */
  readonly room?: Room;
  /** Ends the run early and in order. */
  readonly stop?: AbortSignal;
  /** The message was received before, as far as the queue knows. */
  readonly redelivered?: boolean;
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
    if (!(await ports.lease.extend(visibilityMs))) return { kind: 'doubt', reason: 'the lease was refused' };
    const token = await takeToken(ports, message);
    if (token === undefined) return { kind: 'stale' };
    const run = startRun({ ports, message, token, startedAtMs, release: options.release ?? '' });
    // What already runs in the background has to end with it.
    const onThrow = () => run.end({ kind: 'doubt', reason: 'the run failed' });
    return await hold(run, deadlineMs, options).finally(onThrow);
  } catch (cause) {
    const outOfReach = cause instanceof StoreUnavailable || cause instanceof QueueUnavailable;
    ports.log[outOfReach ? 'warn' : 'error']('run failed', { shard: message.shard, cause });
    return { kind: 'doubt', reason: outOfReach ? 'store or queue out of reach' : 'an exception' };
  }
}

async function hold(run: Run, deadlineMs: number, options: RunOptions): Promise<RunEnd> {
  const { shard, generation } = run.message;
  const remembered = options.memory?.get(shard);
  const kept = remembered?.generation === generation ? remembered : undefined;
  options.memory?.delete(shard);
  const claimed = await claimRun(run, kept?.token);
  if (claimed.kind === 'refused') {
    run.end({ kind: 'stale' });
    return { kind: 'stale' };
  }
  const warm = claimed.kind === 'warm' ? kept : undefined;
  const loop = startLoop(run, options.room);
  const { inherited } = claimed;
  const holder = holderOf(run, loop, {
    targets: warm?.targets ?? new Map(),
    takenOver: claimed.kind === 'cold' ? { unheldSinceMs: claimed.unheldSinceMs, inherited } : undefined,
    inDoubt: inherited.degraded,
  });
  const loader = shardLoader(holder, warm?.loaded);
  const checkpoints = checkpointer(holder, loader);
  const beats = beatsOf(holder, loop, inherited);
  let isCovered = false;
  // The beat begins before the load: a large shard takes longer to load than its lease lasts.
  const background = [guarded(run, keepBeating(run, beats))];
  if (await (warm ? loader.catchUp() : loader.loadAll())) {
    holder.takenOver = undefined;
    options.onLoaded?.(() => viewOf({ holder, loop, loader, beats }));
    loop.start({
      cycle: (held, probe) => probeCycle(holder, held, probe),
      tend: (held) => tendTarget(holder, held),
      jumped: (jumpMs) => shiftAll(holder, jumpMs),
    });
    if (warm) scheduleAll(holder);
    background.push(guarded(run, loader.follow()), guarded(run, checkpoints.keep()));
    isCovered = await untilDone({ holder, loop, claimed, deadlineMs }, options.stop);
  }
  const idle = await drained(holder, loop);
  await holder.commits.drained();
  const isTick = run.message.mode === 'tick';
  if (run.inForce()) await checkpoints.write(isTick ? undefined : run.ports.clock.nowMs());
  // A slot that was left early is not done: whoever comes next goes on with it.
  const wish = run.wish() ?? { kind: 'slotDone' };
  if (run.inForce() && tellsItsEnd(run, wish)) await beatLast(run, beats, isCovered && wish.kind === 'slotDone');
  run.end(wish);
  await Promise.all(background);
  await holder.publisher.drained();
  const end = run.ended() ?? { kind: 'slotDone' };
  if (idle && end.kind === 'slotDone')
    options.memory?.set(shard, { generation, token: run.token, targets: holder.targets, loaded: loader.loaded() });
  return end;
}

/** Whoever goes on with a rescue would look for a beat first. */
const tellsItsEnd = ({ message }: Run, { kind }: RunEnd): boolean =>
  kind === 'slotDone' || (kind === 'handover' && message.kind === 'rescue');

async function beatLast(run: Run, beats: Beats, isCovered: boolean): Promise<void> {
  const state = beats.observe();
  const done = isCovered ? { doneSlot: run.message.slot } : {};
  if (await writeBeat(run, lastBeat, state, done)) beats.written(state);
}

/** After a warm start every worker goes on where its ticker is, and every target is looked at once. */
function scheduleAll(holder: Holder): void {
  for (const held of holder.targets.values()) {
    holder.scheduleTarget(held, holder.run.ports.clock.nowMs());
    for (const probe of held.probes.values()) holder.schedule(held, probe);
  }
}

/** Wall time jumped: every ticker keeps its distance from now, and every target is looked at. */
function shiftAll(holder: Holder, jumpMs: number): void {
  const nowMs = holder.run.ports.clock.nowMs();
  holder.run.ports.log.warn('wall time jumped', { shard: holder.run.message.shard, jumpMs });
  for (const held of holder.targets.values())
    for (const probe of held.probes.values()) probe.ticker = shiftTicker(probe.ticker, jumpMs, nowMs);
  scheduleAll(holder);
  holder.self.jumped(jumpMs);
}

/** Until nothing is in flight. What takes too long, or what a run that has ended left open, is destroyed; whether nothing is left. */
async function drained({ run, self }: Holder, loop: Loop): Promise<boolean> {
  const stopped = loop.stopped();
  await within(run.ports.clock, stopped, drainMs, run.signal);
  if (loop.inFlight() > 0) loop.abandon();
  run.ports.abandon();
  await self.stop();
  await within(run.ports.clock, stopped, abandonMs);
  return loop.inFlight() === 0;
}

type Held = {
  readonly holder: Holder;
  readonly loop: Loop;
  readonly claimed: Exclude<Claimed, { readonly kind: 'refused' }>;
  readonly deadlineMs: number;
};

/** Until the slot is over or, in tick mode, done, the run has ended or wants to, or the host stops; false: it is to be done again. */
async function untilDone(held: Held, stop: AbortSignal | undefined): Promise<boolean> {
  const { run } = held.holder;
  const onStop = () => run.leave({ kind: 'handover' });
  if (stop?.aborted) onStop();
  stop?.addEventListener('abort', onStop);
  try {
    return await (run.message.mode === 'tick' ? ticked(held) : untilDeadline(run, held.deadlineMs));
  } finally {
    stop?.removeEventListener('abort', onStop);
  }
}

async function untilDeadline({ ports, leaving }: Run, deadlineMs: number): Promise<boolean> {
  await sleep(ports.clock, deadlineMs - ports.clock.nowMs(), leaving);
  return true;
}

function ticked({ holder, loop, claimed, deadlineMs }: Held): Promise<boolean> {
  const { ports, message } = holder.run;
  const unheldSinceMs = claimed.kind === 'cold' ? claimed.unheldSinceMs : ports.clock.nowMs();
  return tickOnce(holder, loop, { covered: coveredBy(message, claimed.before, unheldSinceMs), deadlineMs });
}

/** A part of the run that throws ends the run: half a run would keep a false beat. */
function guarded(run: Run, work: Promise<void>): Promise<void> {
  return work.catch((cause: unknown) => {
    run.ports.log.error('a part of the run failed', { shard: run.message.shard, cause });
    run.end({ kind: 'doubt', reason: 'a part of the run failed' });
  });
}

/**
 * `observedAtMs` stands still while something due has not begun, and what has not been done for too long is named; while the shard is
 * loaded it is as the run before left it.
 */
function beatsOf(holder: Holder, loop: Loop, inherited: Inherited): Beats {
  const { clock } = holder.run.ports;
  const tick = holder.run.message.mode === 'tick';
  const teller = doubtTeller(holder, inherited.degradedTold);
  let { observedAtMs } = inherited;
  const late = () =>
    holder.takenOver
      ? { late: inherited.late, lateOverflow: inherited.lateOverflow }
      : lateProbes(holder.targets.values(), { nowMs: clock.nowMs(), tick });
  const observe = (): BeatState => {
    if (!holder.takenOver && !loop.behind()) observedAtMs = clock.nowMs();
    const health = holder.self.health();
    const doubt = health.kind === 'doubtful' && { reason: health.reason, sinceMs: health.sinceMs };
    return { observedAtMs, ...late(), degradedTold: teller.told(), ...(doubt && { doubt }) };
  };
  return { observe, written: teller.written };
}

function checkpointer(holder: Holder, loader: Loader) {
  const { run } = holder;
  const write = async (endsAtMs?: number) => {
    try {
      await writeCheckpoints(run, checkpointEntries(holder.targets.values(), endsAtMs), loader.loaded().written);
    } catch (error) {
      // What is not written costs run lengths, as a crash would: no reason to end a run that beats.
      if (!(error instanceof StoreUnavailable)) throw error;
      run.ports.log.warn('checkpoints not written', { shard: run.message.shard, cause: error.message });
    }
  };
  const keep = async () => {
    while (!run.ended()) {
      await sleep(run.ports.clock, checkpointIntervalMs, run.signal);
      if (run.inForce()) await write();
    }
  };
  return { write, keep };
}

type Viewed = { readonly holder: Holder; readonly loop: Loop; readonly loader: Loader; readonly beats: Beats };

function viewOf({ holder, loop, loader, beats }: Viewed): RunView {
  const held = [...holder.targets.values()];
  return {
    token: holder.run.token,
    targets: held.length,
    probes: held.reduce((count, { probes }) => count + probes.size, 0),
    inFlight: loop.inFlight(),
    beat: beats.observe(),
    quarantined: loader.quarantined(),
  };
}
