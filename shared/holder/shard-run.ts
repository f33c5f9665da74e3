/**
 * One run: it holds a shard for a slot. Lambda, the local runtime and the simulation only host it. Everything that it
 * needs from outside is an argument, and it leaves nothing pending when it returns.
 */
import { sleep, within } from '../lib/clock.ts';
import type { ProbeMetrics } from '../prober/metrics.ts';
import { QueueUnavailable, type ShardMessage } from '../queue/queue.ts';
import type { Poison } from '../store/records/items.ts';
import { hashRangeOf, type TargetAddress } from '../store/records/keys.ts';
import { StoreUnavailable } from '../store/store.ts';
import { type BeatState, type Beats, beatsOf, heartbeat, visibilityMs } from './beat.ts';
import { checkpointer } from './checkpoint.ts';
import { type Claimed, claimRun, takeToken } from './claim.ts';
import { HeldTargets } from './held-targets.ts';
import { type Holder, holderOf } from './holder.ts';
import { type Loaded, type Loader, shardLoader } from './load.ts';
import { type Loop, startLoop } from './probing/due-loop.ts';
import type { HeldTarget } from './probing/held.ts';
import { quarantinedProbes } from './probing/hung-probe.ts';
import type { LatenessCounts } from './probing/lateness.ts';
import { makeUp, shiftSchedule } from './probing/probe-schedule.ts';
import { shiftSeen } from './probing/probe-verdict.ts';
import type { SocketBudget } from './probing/sockets.ts';
import { tendTargets } from './probing/timekeeper.ts';
import { probeCycle } from './probing/worker.ts';
import { readingsOf, type TargetReading } from './readings.ts';
import { type Ports, type Run, type RunEnd, startRun } from './run.ts';
import { coveredBy, shifted, tickOnce } from './tick.ts';

/** Time for the probes in flight at the end of a run. The remaining ones are void; the next run makes them first. */
const drainMs = 2_000;
/** Abandoned probes end within this time. */
const abandonMs = 500;
/** Longer than the store takes to answer or to give up. */
const openCallsMs = 10_000;

export type RunOptions = {
  /** The release that runs this code; LAYOUT may desire another one. */
  readonly release?: string;
  readonly memory?: ShardMemory;
  /** The socket budget that all runs of this process share. Absent: the process has no other run. */
  readonly socketBudget?: SocketBudget;
  /** Ends the run early and in order. */
  readonly stop?: AbortSignal;
  /** As far as the queue knows, the message has been received before. */
  readonly redelivered?: boolean;
  /** No other run can hold the shard, whatever RUN says: the processes of earlier ones are dead. */
  readonly isAlone?: boolean;
  /** How far the wall clock of this process is ahead of the schedule's; absent: they agree. */
  readonly aheadMs?: number;
  /** Called once, when every target is loaded. `view` returns the current state of the run. */
  readonly onLoaded?: (view: () => RunView) => void;
};

/**
 * Holds the shard until `deadlineMs` (wall clock), a stop, a fence or a doubt. Never throws: an exception is logged and
 * ends the run in doubt.
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
    // Parts that already run in the background have to end too.
    const onThrow = () => run.end({ kind: 'doubt', reason: 'the run failed' });
    return await hold(run, left, options).finally(onThrow);
  } catch (cause) {
    const outOfReach = cause instanceof StoreUnavailable || cause instanceof QueueUnavailable;
    ports.log[outOfReach ? 'warn' : 'error']('run failed', { shard: message.shard, cause });
    return { kind: 'doubt', reason: outOfReach ? 'store or queue out of reach' : 'an exception' };
  }
}

/** The end of the run by wall clock and by monotonic clock: the wall clock may be set during the run. */
type Left = { readonly deadlineMs: number; readonly endsAtMs: number };

/**
 * Workers that are not kept for the next run end here, and so do their metric series. After a run that ended in doubt
 * the series stay: this process may well hold the shard again, and their counters continue.
 */
async function hold(run: Run, left: Left, options: RunOptions): Promise<RunEnd> {
  const { shard, generation } = run.message;
  const { metrics, clock } = run.ports;
  const { memory } = options;
  const remembered = memory?.get(shard);
  memory?.delete(shard);
  const kept = remembered?.loaded && remembered.generation === generation ? remembered : undefined;
  let before: Holder['targets'] = remembered?.targets ?? new HeldTargets();
  let targets = before;
  let isKept = false;
  try {
    const claimed = await claimRun(run, kept?.token);
    if (claimed.kind === 'refused') {
      run.end({ kind: 'stale' });
      return { kind: 'stale' };
    }
    const warm = claimed.kind === 'warm' ? kept : undefined;
    if (!warm) targets = new HeldTargets();
    const onLoaded = () => {
      removeSeries(metrics, before, targets);
      before = targets;
    };
    const holding: Run = { ...run, claimsOnWrite: warm !== undefined };
    const { end, loaded, wallOffsetMs } = await holdClaimed(holding, {
      claimed,
      warm,
      targets,
      left,
      options,
      onLoaded,
    });
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

/** `loaded`: what the next run can start from. */
type Held = { readonly end: RunEnd; readonly loaded?: Loaded; readonly wallOffsetMs: number };

async function holdClaimed(run: Run, { claimed, warm, targets, left, options, onLoaded }: Holding): Promise<Held> {
  const loop = startLoop(run, options.socketBudget, warm?.wallOffsetMs);
  const { inherited } = claimed;
  const holder = holderOf(run, loop, {
    targets,
    takenOver: claimed.kind === 'cold' ? { unheld: claimed.unheld, inherited } : undefined,
    inDoubt: inherited.degraded,
  });
  const loader = shardLoader(holder, warm?.loaded);
  const checkpoints = checkpointer(holder, loader);
  const beats = beatsOf(holder, loop, inherited);
  // The beat begins before the load: a large shard takes longer to load than its lease lasts.
  const { keep, last } = heartbeat(run, beats);
  const background = [guarded(run, keep())];
  const parts = { holder, loop, background };
  try {
    let isCovered = false;
    if (await (warm ? loader.catchUp() : loader.loadAll())) {
      holder.takenOver = undefined;
      onLoaded();
      options.onLoaded?.(() => viewOf({ holder, loop, loader, beats }));
      startProbing(holder, loop);
      background.push(guarded(run, loader.follow()), guarded(run, checkpoints.keep()));
      isCovered = await untilDone({ holder, loop, claimed, ...left }, options.stop);
    }
    const idle = await drained(holder, loop);
    await holder.commits.end();
    const isTick = run.message.mode === 'tick';
    await checkpoints.writeLast(isTick ? undefined : run.ports.clock.nowMs());
    // A slot that was left early is not done: the next holder continues it.
    const wish = run.wish() ?? { kind: 'slotDone' };
    const isDone = isCovered && wish.kind === 'slotDone';
    if (reportsItsEnd(wish)) await last(isDone ? { doneSlot: run.message.slot } : {});
    run.end(wish);
    await settled(parts);
    const end = run.ended() ?? { kind: 'slotDone' };
    const loaded = idle && end.kind === 'slotDone' && { loaded: loader.loaded() };
    return { end, wallOffsetMs: loop.wallOffsetMs(), ...loaded };
  } catch (cause) {
    run.end({ kind: 'doubt', reason: 'the run failed' });
    await settled(parts);
    throw cause;
  }
}

type Parts = { readonly holder: Holder; readonly loop: Loop; readonly background: readonly Promise<void>[] };

/**
 * Resolves when nothing of an ended run is under way. Lambda freezes a function when it returns: an answer still to
 * come would be read during its next invocation.
 */
async function settled({ holder, loop, background }: Parts): Promise<void> {
  await Promise.all(background);
  await holder.publisher.drained();
  await within(holder.run.ports.clock, loop.stopped(), openCallsMs);
}

/**
 * Each worker begins with its ticker: of the run before, or set when it was loaded. What came due before this start is
 * pending.
 */
function startProbing(holder: Holder, loop: Loop): void {
  loop.start({
    cycle: (held, probe, place) => probeCycle(holder, held, { probe, place }),
    tend: (due) => tendTargets(holder, due),
    jumped: (jumpMs) => shiftAll(holder, jumpMs),
  });
  // Looks at the clock first: it may have been set meanwhile.
  scheduleAll(holder);
  for (const { probes } of holder.targets.values()) for (const { schedule } of probes.values()) makeUp(schedule);
}

/**
 * Whether the run writes a last beat. A successor with a rescue or the message of the next slot, or one that has asked
 * this run to leave, looks for beats first.
 */
const reportsItsEnd = ({ kind }: RunEnd): boolean => kind === 'slotDone' || kind === 'asked' || kind === 'handover';

/** Each worker continues with its ticker, and the timekeeper looks at each target once. */
function scheduleAll(holder: Pick<Holder, 'run' | 'targets' | 'schedule' | 'scheduleTarget'>): void {
  for (const held of holder.targets.values()) {
    holder.scheduleTarget(held, holder.run.ports.clock.nowMs());
    for (const probe of held.probes.values()) holder.schedule(held, probe);
  }
}

/** Wall time jumped: each ticker keeps its distance from now, and the timekeeper looks at each target. */
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

/** Waits until nothing is in flight; abandons slow probes, and those of a run that has ended. false: some are left. */
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

/**
 * Waits until the slot is over (in tick mode: done), the run has ended or is to end, or the host stops. false: the slot
 * is not done and has to be repeated.
 */
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
  const unheldSinceMs = claimed.kind === 'cold' ? claimed.unheld.sinceMs : ports.clock.nowMs();
  const covered = coveredBy(message, claimed.before, unheldSinceMs - aheadMs);
  return tickOnce(holder, loop, { covered: shifted(covered, aheadMs), deadlineMs });
}

/** An exception in one part ends the run: if only the other parts continued, the beat would be false. */
function guarded(run: Run, work: Promise<void>): Promise<void> {
  return work.catch((cause: unknown) => {
    run.ports.log.error('a part of the run failed', { shard: run.message.shard, cause });
    run.end({ kind: 'doubt', reason: 'a part of the run failed' });
  });
}

// A run as its host sees it, for the metrics.

export type RunView = {
  readonly shard: string;
  /** Of its targets. */
  readonly hashRange: string;
  readonly token: number;
  readonly targets: number;
  readonly probes: number;
  readonly inFlight: number;
  /** How late the probes of this run have begun. */
  readonly lateness: LatenessCounts;
  /** Failures that this run has found and that did not count: void, or held back by the surge limit. */
  readonly uncounted: { readonly void: number; readonly heldBack: number };
  /** What the next beat will report. */
  readonly beat: BeatState;
  /** Time since the last successful beat began. */
  readonly beatAgeMs: number;
  /** For how long the status has not taken in the oldest change that this run knows of; 0: it has taken in all. */
  readonly statusBehindMs: number;
  readonly quarantined: readonly Poison[];
  /** Reads this target again, if it is held: its deletion has effect before it is answered. */
  reread(address: TargetAddress): Promise<void>;
  /** Reads each held target when the iterator reaches it. */
  readings(): Iterable<TargetReading>;
};

type Viewed = { readonly holder: Holder; readonly loop: Loop; readonly loader: Loader; readonly beats: Beats };

export function viewOf({ holder, loop, loader, beats }: Viewed): RunView {
  const held = [...holder.targets.values()];
  const { ports, message, token, confirmedAtMs } = holder.run;
  return {
    shard: message.shard,
    hashRange: hashRangeOf(message.buckets),
    token,
    targets: held.length,
    probes: held.reduce((count, { probes }) => count + probes.size, 0),
    inFlight: loop.inFlight(),
    lateness: loop.lateness(),
    uncounted: { void: holder.self.voidFailures(), heldBack: holder.surgeLimit.heldBack() },
    beat: beats.observe(),
    beatAgeMs: ports.clock.monotonicMs() - confirmedAtMs(),
    statusBehindMs: statusBehindMs(held, ports.clock.monotonicMs()),
    quarantined: [...loader.quarantined(), ...held.flatMap(quarantinedProbes)],
    async reread({ prefix }) {
      const known = holder.targets.get(prefix);
      if (known) await holder.reread([known]);
    },
    readings: () => readingsOf(holder),
  };
}

function statusBehindMs(held: readonly HeldTarget[], monotonicMs: number): number {
  let longestMs = 0;
  for (const { unacked } of held)
    for (const { sinceMs } of unacked.values()) longestMs = Math.max(longestMs, monotonicMs - sinceMs);
  return longestMs;
}

// What a process remembers about the shards that it held last, so that their next run starts warm. If a shard's next
// run goes elsewhere, the process forgets the shard and the metric series of its workers. Otherwise a process that
// holds one shard after the other would accumulate all of them.

/** By shard. The claim decides whether a run may continue with an entry. */
export type ShardMemory = Map<string, Kept>;

export type Kept = {
  readonly token: number;
  /** An entry of another generation is not used: other shards may hold some of its buckets by now. */
  readonly generation: number;
  readonly targets: Holder['targets'];
  /** undefined if the run ended in doubt: the next run continues only with its metric series. */
  readonly loaded: Loaded | undefined;
  /** Monotonic. */
  readonly keptAtMs: number;
  /** How far the wall time of the targets' tickers is ahead of monotonic time. */
  readonly wallOffsetMs: number;
};

/** A shard's next run begins at once or, in tick mode, in the next minute, which may be late. */
const keptMs = 150_000;

type Forgetting = { readonly metrics: ProbeMetrics; readonly nowMs: number };

/** Forgets entries that are too old. `nowMs`: monotonic. */
export function forgetOld(memory: ShardMemory, { metrics, nowMs }: Forgetting): void {
  for (const [shard, { keptAtMs, targets }] of memory) {
    if (nowMs - keptAtMs < keptMs) continue;
    memory.delete(shard);
    removeSeries(metrics, targets);
  }
}

/** The workers of these targets have ended in this process, except those that it holds again (`held`). */
export function removeSeries(metrics: ProbeMetrics, targets: Holder['targets'], held?: Holder['targets']): void {
  const kept = new Set(labelsOf(held ?? new HeldTargets()).map((labels) => JSON.stringify(labels)));
  for (const labels of labelsOf(targets)) if (!kept.has(JSON.stringify(labels))) metrics.remove(labels);
}

const labelsOf = (targets: Holder['targets']) =>
  [...targets.values()].flatMap(({ probes }) => [...probes.values()].map(({ labels }) => labels));
