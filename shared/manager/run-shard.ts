/**
 * One run: a shard held for a slot. Lambda, the local runtime and a simulation only host it; everything it needs of the world is an
 * argument, and when it returns nothing of it is left pending.
 */
import { sleep } from '../lib/clock.ts';
import { QueueUnavailable, type ShardMessage } from '../queue/queue.ts';
import { StoreUnavailable } from '../store/store.ts';
import { type BeatState, keepBeating, visibilityMs, writeBeat } from './beat.ts';
import { checkpointEntries, checkpointIntervalMs, writeCheckpoints } from './checkpoint.ts';
import { claimRun, takeToken } from './claim.ts';
import { commitQueue } from './commit.ts';
import type { HeldTarget } from './held.ts';
import type { Holder } from './holder.ts';
import { type Loaded, type Loader, shardLoader } from './load.ts';
import { type Loop, startLoop } from './loop.ts';
import type { Ports } from './ports.ts';
import { probeCycle } from './probe-cycle.ts';
import { publisherOf } from './publisher.ts';
import { type Poison, type ReadTarget, readTarget } from './read-target.ts';
import { adoptTarget, dropTarget } from './roster.ts';
import { type Run, type RunEnd, startRun } from './run.ts';
import { tendTarget } from './timekeeper.ts';

/** Probes in flight at the end of a run have this long; the rest are void and run again first thing in the next one. */
const drainMs = 2_000;
/** The last beat of a run says so by its number. */
const lastBeat = -1;

export type RunView = {
  readonly token: number;
  readonly targets: number;
  readonly probes: number;
  readonly inFlight: number;
  readonly quarantined: readonly Poison[];
};

/** What a process remembers of the shards that it held last; whether it may go on with it is decided at the claim. */
export type ShardMemory = Map<string, Kept>;

type Kept = { readonly token: number; readonly targets: Holder['targets']; readonly loaded: Loaded };

export type RunOptions = {
  /** The release that runs this code; LAYOUT may desire another one. */
  readonly release?: string;
  readonly memory?: ShardMemory;
  /** Ends the run early and in order. */
  readonly stop?: AbortSignal;
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
  const { shard } = run.message;
  const kept = options.memory?.get(shard);
  options.memory?.delete(shard);
  const claimed = await claimRun(run, kept?.token);
  if (claimed === 'refused') return { kind: 'stale' };
  const warm = claimed === 'warm' ? kept : undefined;
  const loop = startLoop(run);
  const holder = holderOf(run, loop, warm?.targets ?? new Map());
  const loader = shardLoader(holder, warm?.loaded);
  const checkpoints = checkpointer(holder, loader);
  const observe = observer(run, loop);
  // The beat begins before the load: a large shard takes longer to load than its lease lasts.
  const background = [guarded(run, keepBeating(run, observe))];
  if (await (warm ? loader.catchUp() : loader.loadAll())) {
    options.onLoaded?.(() => viewOf({ run, holder, loop, loader }));
    loop.start({ cycle: (held, probe) => probeCycle(holder, held, probe), tend: (held) => tendTarget(holder, held) });
    if (warm) scheduleAll(holder);
    background.push(guarded(run, loader.follow()), guarded(run, checkpoints.keep()));
    await untilDone(run, deadlineMs, options.stop);
  }
  const idle = await drained(run, loop);
  await holder.commits.drained();
  if (run.inForce()) await checkpoints.write();
  // A slot that was left early is not done: whoever comes next goes on with it.
  const wish = run.wish() ?? { kind: 'slotDone' };
  if (run.inForce() && wish.kind === 'slotDone')
    await writeBeat(run, lastBeat, observe(), { doneSlot: run.message.slot });
  run.end(wish);
  await Promise.all(background);
  await holder.publisher.drained();
  const end = run.ended() ?? { kind: 'slotDone' };
  if (idle && end.kind === 'slotDone')
    options.memory?.set(shard, { token: run.token, targets: holder.targets, loaded: loader.loaded() });
  return end;
}

/** After a warm start every worker goes on where its ticker is, and every target is looked at once. */
function scheduleAll(holder: Holder): void {
  for (const held of holder.targets.values()) {
    holder.scheduleTarget(held, holder.run.ports.clock.nowMs());
    for (const probe of held.probes.values()) holder.schedule(held, probe);
  }
}

/** Until nothing is in flight, for a while; whether nothing is. */
async function drained(run: Run, loop: Loop): Promise<boolean> {
  const over = new AbortController();
  await Promise.race([loop.stopped(), sleep(run.ports.clock, drainMs, over.signal)]);
  over.abort();
  return loop.inFlight() === 0;
}

/** Until the slot is over, the run has ended or wants to, or the host stops. */
async function untilDone(run: Run, deadlineMs: number, stop: AbortSignal | undefined): Promise<void> {
  const onStop = () => run.leave({ kind: 'handover' });
  if (stop?.aborted) onStop();
  stop?.addEventListener('abort', onStop);
  await sleep(run.ports.clock, deadlineMs - run.ports.clock.nowMs(), run.leaving);
  stop?.removeEventListener('abort', onStop);
}

/** A part of the run that throws ends the run: half a run would keep a false beat. */
function guarded(run: Run, work: Promise<void>): Promise<void> {
  return work.catch((cause: unknown) => {
    run.ports.log.error('a part of the run failed', { shard: run.message.shard, cause });
    run.end({ kind: 'doubt', reason: 'a part of the run failed' });
  });
}

/** `observedAtMs` stands still while a due probe has not begun. */
function observer(run: Run, loop: Loop): () => BeatState {
  let observedAtMs = run.ports.clock.nowMs();
  return () => {
    const late = loop.late();
    if (late.length === 0) observedAtMs = run.ports.clock.nowMs();
    return { observedAtMs, late };
  };
}

function checkpointer(holder: Holder, loader: Loader) {
  const { run } = holder;
  const write = async () => {
    try {
      await writeCheckpoints(run, checkpointEntries(holder.targets.values()), loader.loaded().written);
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

function viewOf({
  run,
  loop,
  loader,
  holder,
}: {
  readonly run: Run;
  readonly loop: Loop;
  readonly loader: Loader;
  readonly holder: Holder;
}): RunView {
  const held = [...holder.targets.values()];
  return {
    token: run.token,
    targets: held.length,
    probes: held.reduce((count, { probes }) => count + probes.size, 0),
    inFlight: loop.inFlight(),
    quarantined: loader.quarantined(),
  };
}

function holderOf(run: Run, loop: Loop, targets: Holder['targets']): Holder {
  const reread = async (held: HeldTarget) => {
    const read = await readUntilEnded(run, held);
    if (held.gone || run.ended()) return;
    if (read) adoptTarget(holder, read, {});
    else dropTarget(holder, held);
  };
  const holder: Holder = {
    run,
    commits: commitQueue(run),
    publisher: publisherOf(run),
    targets,
    schedule: loop.schedule,
    scheduleTarget: loop.scheduleTarget,
    reread,
    async reload(held) {
      const read = await readUntilEnded(run, held);
      if (held.gone || run.ended()) return;
      // Only now: a target that was dropped and could not be read would be nobody's until the next full reload.
      dropTarget(holder, held);
      if (read) adoptTarget(holder, read, {});
    },
  };
  return holder;
}

/** After a read that failed. */
const readAgainMs = 1_000;

/** A target that has to be read again is, however long the store is out of reach; undefined: it is gone, or the run has ended. */
async function readUntilEnded(run: Run, { address }: HeldTarget): Promise<ReadTarget | undefined> {
  while (!run.ended()) {
    try {
      return await readTarget(run.ports.store, address);
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) throw error;
      await sleep(run.ports.clock, readAgainMs, run.signal);
    }
  }
  return undefined;
}
