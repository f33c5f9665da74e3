/**
 * One run: it holds a shard for a slot. Lambda, the local runtime and the simulation only host it. Everything that it
 * needs from outside is an argument, and it leaves nothing pending when it returns.
 *
 * A run claims, loads, probes and leaves. The claim makes it the only one that may write (claim.ts). From then on it
 * beats (beat.ts), also while it loads, since a large shard takes longer to load than its lease lasts. When it leaves,
 * it begins nothing more, waits a little for the probes in flight, and writes what its successor needs. It may end at
 * any moment instead, by a fence, a refused lease or a doubt: then it writes nothing more, and only lets go.
 */
import { sleep, within } from '../lib/clock.ts';
import type { ProbeMetrics } from '../prober/metrics.ts';
import { QueueUnavailable, type ShardMessage } from '../queue/queue.ts';
import type { Poison } from '../store/records/items.ts';
import { hashRangeOf, type TargetAddress } from '../store/records/keys.ts';
import { StoreUnavailable } from '../store/store.ts';
import { readTarget } from '../table/targets.ts';
import { type Beats, beatsOf, type Heartbeat, heartbeat, visibilityMs } from './beat.ts';
import { type Checkpointer, checkpointer } from './checkpoint.ts';
import { type Claimed, claimRun, takeToken } from './claim.ts';
import { type CommitQueue, commitQueue } from './commit/queue.ts';
import { HeldTargets } from './held-targets.ts';
import type { Holder, TakenOver } from './holder.ts';
import { type Loaded, readAgain, ShardLoader } from './load.ts';
import { AgainPace } from './probing/again-pace.ts';
import { DueLoop } from './probing/due-loop.ts';
import { quarantinedProbes } from './probing/hung-probe.ts';
import type { LatenessCounts } from './probing/lateness.ts';
import { type Publisher, publisherOf } from './probing/publisher.ts';
import { adoptTarget, dropTarget, requestsPassedOn } from './probing/reconcile.ts';
import type { SocketBudget } from './probing/sockets.ts';
import { tendTargets } from './probing/timekeeper.ts';
import type { HeldTarget, Worker } from './probing/worker.ts';
import { readingsOf, type TargetReading } from './readings.ts';
import { type Ports, type Run, type RunEnd, startRun } from './run.ts';
import type { BeatState } from './self-check/events.ts';
import { type SelfWatch, selfWatch } from './self-check/self-check.ts';
import { type SurgeLimit, surgeLimitOf, surgePublisher } from './self-check/surge.ts';
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
  /** How far the wall clock of this process is ahead of the schedule's; absent: not at all. */
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
    const endsAtMs = startedAtMs + deadlineMs - ports.clock.nowMs();
    if (!(await ports.lease.extend(visibilityMs))) return { kind: 'doubt', reason: 'the lease was refused' };
    const taken = await takeToken(ports, message);
    if (taken === undefined) return { kind: 'stale' };
    const { release = '', aheadMs = 0 } = options;
    const run = startRun({ ports, message, ...taken, startedAtMs, release, aheadMs });
    // After an exception, what runs in the background has to end too.
    const onThrow = () => run.end({ kind: 'doubt', reason: 'the run failed' });
    return await hold(run, deadlineMs, endsAtMs, options).finally(onThrow);
  } catch (cause) {
    const outOfReach = cause instanceof StoreUnavailable || cause instanceof QueueUnavailable;
    ports.log[outOfReach ? 'warn' : 'error']('run failed', { shard: message.shard, cause });
    return { kind: 'doubt', reason: outOfReach ? 'store or queue out of reach' : 'an exception' };
  }
}

/**
 * Holds the shard as soon as it is claimed. `deadlineMs` and `endsAtMs`: the end of the run by wall clock and by
 * monotonic clock, since the wall clock may be set meanwhile.
 *
 * Workers that are not kept for the next run end here, and so do their metric series. After a run that ended in doubt
 * the series stay: this process may well hold the shard again, and their counters continue.
 */
async function hold(run: Run, deadlineMs: number, endsAtMs: number, options: RunOptions): Promise<RunEnd> {
  const { shard, generation } = run.message;
  const { metrics, clock } = run.ports;
  const { memory } = options;
  const remembered = memory?.get(shard);
  memory?.delete(shard);
  const kept = remembered?.loaded && remembered.generation === generation ? remembered : undefined;
  let before = remembered?.targets ?? new HeldTargets();
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
    const shardRun = new ShardRun({ ...run, claimsOnWrite: warm !== undefined }, claimed, targets, warm, options);
    const { end, loaded, wallOffsetMs } = await shardRun.hold(deadlineMs, endsAtMs, onLoaded);
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

/** How a run ended. `loaded`: what the next run of this process can start from. */
type Left = { readonly end: RunEnd; readonly loaded: Loaded | undefined; readonly wallOffsetMs: number };

/** Pause after a failed read of a target. */
const readAgainMs = 1_000;

export class ShardRun implements Holder {
  readonly run: Run;
  readonly targets: HeldTargets;
  readonly publisher: Publisher;
  readonly surgeLimit: SurgeLimit;
  readonly publishSurge: () => void;
  readonly commits: CommitQueue;
  readonly againPace: AgainPace;
  readonly self: SelfWatch;
  readonly loop: DueLoop;
  readonly #claimed: Exclude<Claimed, { readonly kind: 'refused' }>;
  readonly #isWarm: boolean;
  readonly #options: RunOptions;
  readonly #loader: ShardLoader;
  readonly #checkpoints: Checkpointer;
  readonly #beats: Beats;
  readonly #heartbeat: Heartbeat;
  /** Parts that run beside the loop. */
  readonly #background: Promise<void>[] = [];
  #takenOver: TakenOver | undefined;

  /** Begins nothing yet. `kept`: what a warm run continues with. */
  constructor(
    run: Run,
    claimed: Exclude<Claimed, { readonly kind: 'refused' }>,
    targets: HeldTargets,
    kept: Kept | undefined,
    options: RunOptions,
  ) {
    const { inherited } = claimed;
    const { clock } = run.ports;
    this.run = run;
    this.#claimed = claimed;
    this.targets = targets;
    this.#isWarm = kept !== undefined;
    this.#options = options;
    this.#takenOver = claimed.kind === 'cold' ? { unheld: claimed.unheld, inherited } : undefined;
    this.loop = new DueLoop(run, options.socketBudget, kept?.wallOffsetMs);
    this.publisher = publisherOf(run);
    this.surgeLimit = surgeLimitOf(clock, () => this.publishSurge());
    this.publishSurge = surgePublisher(run.message, this.publisher, this.surgeLimit.surge);
    this.commits = commitQueue(run);
    this.againPace = new AgainPace(clock);
    this.self = selfWatch(run, inherited.degraded, (code) => this.loop.refused(code));
    this.#loader = new ShardLoader(this, kept?.loaded);
    this.#checkpoints = checkpointer(this, () => this.#loader.loaded().written);
    this.#beats = beatsOf(this, this.loop, inherited);
    this.#heartbeat = heartbeat(run, this.#beats);
  }

  get takenOver(): TakenOver | undefined {
    return this.#takenOver;
  }

  schedule(worker: Worker): void {
    this.loop.schedule(worker);
  }

  scheduleTarget(held: HeldTarget, dueMs: number): void {
    this.loop.scheduleTarget(held, dueMs);
  }

  async reread(due: readonly HeldTarget[]): Promise<void> {
    const read = await this.#untilRead(() => readAgain(this.run.ports.store, due, this.targets));
    for (const held of due) {
      if (held.gone || this.run.ended()) continue;
      const found = read?.get(held.address.prefix);
      if (found) adoptTarget(this, found, {});
      else dropTarget(this, held);
    }
  }

  async reload(held: HeldTarget): Promise<void> {
    const read = await this.#untilRead(() => readTarget(this.run.ports.store, held.address));
    if (held.gone || this.run.ended()) return;
    // Dropped only after the read: a target that was dropped and could not be read would have no holder until the next
    // full reload.
    dropTarget(this, held);
    if (read) keepSeen(held, adoptTarget(this, read, requestsPassedOn(held)));
  }

  /**
   * Repeats the read while the store is unreachable. undefined: there is nothing to read, or the run has ended.
   */
  async #untilRead<Answer>(read: () => Promise<Answer>): Promise<Answer | undefined> {
    const { run } = this;
    while (!run.ended()) {
      try {
        return await read();
      } catch (error) {
        if (!(error instanceof StoreUnavailable)) throw error;
        await sleep(run.ports.clock, readAgainMs, run.signal);
      }
    }
    return undefined;
  }

  /** Loads, probes and leaves. Calls `onLoaded` once every target is loaded. */
  async hold(deadlineMs: number, endsAtMs: number, onLoaded: () => void): Promise<Left> {
    this.#background.push(this.#guarded(this.#heartbeat.keep()));
    try {
      const isLoaded = await this.#load();
      if (isLoaded) onLoaded();
      const isCovered = isLoaded && (await this.#probe(deadlineMs, endsAtMs));
      return await this.#leave(isCovered);
    } catch (cause) {
      this.run.end({ kind: 'doubt', reason: 'the run failed' });
      await this.#settled();
      throw cause;
    }
  }

  /** Returns false if the run is fenced or has ended. */
  async #load(): Promise<boolean> {
    if (!(await (this.#isWarm ? this.#loader.catchUp() : this.#loader.loadAll()))) return false;
    this.#takenOver = undefined;
    return true;
  }

  /**
   * Probes until the slot is over (in tick mode: done), the run has ended or was asked to end, or the host stops.
   * Returns whether the slot is done; otherwise it has to be repeated.
   */
  async #probe(deadlineMs: number, endsAtMs: number): Promise<boolean> {
    const { stop, onLoaded } = this.#options;
    onLoaded?.(() => this.#view());
    this.#startLoop();
    this.#background.push(this.#guarded(this.#loader.follow()), this.#guarded(this.#checkpoints.keep()));
    const { run } = this;
    const onStop = () => run.leave({ kind: 'handover' });
    if (stop?.aborted) onStop();
    stop?.addEventListener('abort', onStop);
    try {
      if (run.message.mode === 'tick') return await this.#tick(deadlineMs);
      await sleep(run.ports.clock, endsAtMs - run.ports.clock.monotonicMs(), run.leaving);
      return true;
    } finally {
      stop?.removeEventListener('abort', onStop);
    }
  }

  /**
   * Each worker has its ticker already, from the run before or from the load. What became due before this start is
   * pending.
   */
  #startLoop(): void {
    this.loop.start({
      cycle: (worker, place) => worker.cycle(this, place),
      tend: (due) => tendTargets(this, due),
      jumped: (jumpMs) => this.#shiftAll(jumpMs),
    });
    // Looks at the clock first: it may have been set meanwhile.
    this.#scheduleAll();
    for (const { workers } of this.targets.values()) for (const worker of workers.values()) worker.makeUp();
  }

  /** Each worker continues with its ticker, and the timekeeper looks at each target once. */
  #scheduleAll(): void {
    for (const held of this.targets.values()) {
      this.scheduleTarget(held, this.run.ports.clock.nowMs());
      for (const worker of held.workers.values()) this.schedule(worker);
    }
  }

  /** Wall time jumped: each ticker keeps its distance from now, and the timekeeper looks at each target. */
  #shiftAll(jumpMs: number): void {
    const { clock, log } = this.run.ports;
    const nowMs = clock.nowMs();
    log.warn('wall time jumped', { shard: this.run.message.shard, jumpMs });
    for (const held of this.targets.values()) held.shift(jumpMs, nowMs);
    this.#scheduleAll();
    this.self.jumped(jumpMs);
  }

  #tick(deadlineMs: number): Promise<boolean> {
    const { ports, message, aheadMs } = this.run;
    const claimed = this.#claimed;
    const unheldSinceMs = claimed.kind === 'cold' ? claimed.unheld.sinceMs : ports.clock.nowMs();
    const covered = shifted(coveredBy(message, claimed.before, unheldSinceMs - aheadMs), aheadMs);
    return tickOnce(this, this.loop, covered, deadlineMs);
  }

  /** Ends in order: the successor continues where this run has stopped. */
  async #leave(isCovered: boolean): Promise<Left> {
    const { run } = this;
    const isIdle = await this.#drained();
    await this.commits.end();
    await this.#checkpoints.writeLast(run.message.mode === 'tick' ? undefined : run.ports.clock.nowMs());
    // A slot that was left early is not done: the next holder continues it.
    const wish = run.wish() ?? { kind: 'slotDone' };
    const isDone = isCovered && wish.kind === 'slotDone';
    if (reportsItsEnd(wish)) await this.#heartbeat.last(isDone ? { doneSlot: run.message.slot } : {});
    run.end(wish);
    await this.#settled();
    const end = run.ended() ?? { kind: 'slotDone' };
    const loaded = isIdle && end.kind === 'slotDone' ? this.#loader.loaded() : undefined;
    return { end, loaded, wallOffsetMs: this.loop.wallOffsetMs() };
  }

  /**
   * Waits until nothing is in flight; abandons slow probes, or all at once if the run has ended. false: some are left.
   */
  async #drained(): Promise<boolean> {
    const { clock, abandon } = this.run.ports;
    const stopped = this.loop.stopped();
    await within(clock, stopped, drainMs, this.run.signal);
    if (this.loop.inFlight() > 0) this.loop.abandon();
    abandon();
    await this.self.stop();
    await within(clock, stopped, abandonMs);
    return this.loop.inFlight() === 0;
  }

  /**
   * Resolves when nothing of an ended run is under way. Lambda freezes a function when it returns: an answer still to
   * come would be read during its next invocation.
   */
  async #settled(): Promise<void> {
    await Promise.all(this.#background);
    await this.publisher.drained();
    await within(this.run.ports.clock, this.loop.stopped(), openCallsMs);
  }

  /** An exception in one part ends the run: if only the other parts continued, the beat would be false. */
  #guarded(work: Promise<void>): Promise<void> {
    return work.catch((cause: unknown) => {
      this.run.ports.log.error('a part of the run failed', { shard: this.run.message.shard, cause });
      this.run.end({ kind: 'doubt', reason: 'a part of the run failed' });
    });
  }

  #view(): RunView {
    const held = [...this.targets.values()];
    const { ports, message, token, confirmedAtMs } = this.run;
    const monotonicMs = ports.clock.monotonicMs();
    return {
      shard: message.shard,
      hashRange: hashRangeOf(message.buckets),
      token,
      targets: held.length,
      probes: held.reduce((count, { workers }) => count + workers.size, 0),
      inFlight: this.loop.inFlight(),
      lateness: this.loop.lateness(),
      uncounted: { void: this.self.voidFailures(), heldBack: this.surgeLimit.heldBack() },
      beat: this.#beats.observe(),
      beatAgeMs: monotonicMs - confirmedAtMs(),
      statusBehindMs: held.reduce((longestMs, each) => Math.max(longestMs, each.statusBehindMs(monotonicMs)), 0),
      quarantined: [
        ...this.#loader.quarantined(),
        ...held.flatMap(({ address, hang, target }) => quarantinedProbes(address, hang, target)),
      ],
      reread: async ({ prefix }) => {
        const known = this.targets.get(prefix);
        if (known) await this.reread([known]);
      },
      readings: () => readingsOf(this),
    };
  }
}

/** A reload does not make an overdue probe fresh. */
function keepSeen(before: HeldTarget, held: HeldTarget): void {
  if (held.target.uid !== before.target.uid) return;
  for (const [name, worker] of held.workers) worker.keepSeen(before.workers.get(name));
}

/**
 * Whether the run writes a last beat. A successor with a rescue or the message of the next slot, or one that has asked
 * this run to leave, looks for beats first.
 */
const reportsItsEnd = ({ kind }: RunEnd): boolean => kind === 'slotDone' || kind === 'asked' || kind === 'handover';

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

// What a process remembers about the shards that it held last, so that their next run starts warm. If a shard's next
// run goes elsewhere, the process forgets the shard and the metric series of its workers. Otherwise a process that
// holds one shard after the other would accumulate all of them.

/** By shard. The claim decides whether a run may continue with an entry. */
export type ShardMemory = Map<string, Kept>;

export type Kept = {
  readonly token: number;
  /** An entry of another generation is not used: other shards may hold some of its buckets by now. */
  readonly generation: number;
  readonly targets: HeldTargets;
  /** undefined if the run ended in doubt: the next run continues only with its metric series. */
  readonly loaded: Loaded | undefined;
  /** Monotonic. */
  readonly keptAtMs: number;
  /** How far the wall time of the targets' tickers is ahead of monotonic time. */
  readonly wallOffsetMs: number;
};

/** A shard's next run begins at once or, in tick mode, in the next minute, which may be late. */
const keptMs = 150_000;

/** Forgets entries that are too old. `nowMs`: monotonic. */
export function forgetOld(memory: ShardMemory, metrics: ProbeMetrics, nowMs: number): void {
  for (const [shard, { keptAtMs, targets }] of memory) {
    if (nowMs - keptAtMs < keptMs) continue;
    memory.delete(shard);
    removeSeries(metrics, targets);
  }
}

/** The workers of these targets have ended in this process, except those that it holds again (`held`). */
export function removeSeries(metrics: ProbeMetrics, targets: HeldTargets, held?: HeldTargets): void {
  const kept = new Set(labelsOf(held ?? new HeldTargets()).map((labels) => JSON.stringify(labels)));
  for (const labels of labelsOf(targets)) if (!kept.has(JSON.stringify(labels))) metrics.remove(labels);
}

const labelsOf = (targets: HeldTargets) =>
  [...targets.values()].flatMap(({ workers }) => [...workers.values()].map(({ labels }) => labels));
