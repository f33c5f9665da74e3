/**
 * One run: a shard held for a slot. Lambda, the local runtime and a simulation only host it; everything it needs of the world is an
 * argument, and when it returns nothing of it is left pending.
 */
import { sleep } from '../lib/clock.ts';
import type { ShardMessage } from '../queue/queue.ts';
import type { Bucket } from '../store/keys.ts';
import { StoreUnavailable } from '../store/store.ts';
import { type BeatState, keepBeating, writeBeat } from './beat.ts';
import { checkpointEntries, checkpointIntervalMs, writeCheckpoints } from './checkpoint.ts';
import { claimRun, takeToken } from './claim.ts';
import { commitQueue } from './commit.ts';
import type { HeldTarget } from './held.ts';
import type { Holder } from './holder.ts';
import { type Loader, shardLoader } from './load.ts';
import { type Loop, startLoop } from './loop.ts';
import type { Ports } from './ports.ts';
import { probeCycle } from './probe-cycle.ts';
import { publisherOf } from './publisher.ts';
import { type Poison, readTarget } from './read-target.ts';
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

export type RunOptions = {
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
    const token = await takeToken(ports, message);
    if (token === undefined) return { kind: 'stale' };
    const run = startRun(ports, message, token);
    // What already runs in the background has to end with it.
    const onThrow = () => run.end({ kind: 'doubt', reason: 'the run failed' });
    return await hold(run, deadlineMs, options).finally(onThrow);
  } catch (cause) {
    ports.log.error('run failed', { shard: message.shard, cause });
    return { kind: 'doubt', reason: cause instanceof StoreUnavailable ? 'store unavailable' : 'an exception' };
  }
}

async function hold(run: Run, deadlineMs: number, options: RunOptions): Promise<RunEnd> {
  if (!(await claimRun(run))) {
    run.end({ kind: 'stale' });
    return { kind: 'stale' };
  }
  const loop = startLoop(run);
  const holder = holderOf(run, loop);
  const loader = shardLoader(holder);
  if (!(await loader.loadAll())) return run.ended() ?? { kind: 'fenced' };
  options.onLoaded?.(() => viewOf({ run, holder, loop, loader }));
  loop.start({ cycle: (held, probe) => probeCycle(holder, held, probe), tend: (held) => tendTarget(holder, held) });
  const checkpoints = checkpointer(holder, loader);
  const observe = observer(run, loop);
  const background = [keepBeating(run, observe), loader.follow(), checkpoints.keep()].map((work) => guarded(run, work));

  await untilDone(run, deadlineMs, options.stop);
  await drained(run, loop);
  await holder.commits.drained();
  if (!run.ended()) await checkpoints.write();
  // A slot that was left early is not done: whoever comes next goes on with it.
  const stopped = options.stop?.aborted === true;
  if (!run.ended() && !stopped) await writeBeat(run, lastBeat, observe(), { doneSlot: run.message.slot });
  run.end({ kind: stopped ? 'stopped' : 'slotDone' });
  await Promise.all(background);
  await holder.publisher.drained();
  return run.ended() ?? { kind: 'slotDone' };
}

/** Until nothing is in flight, for a while. */
async function drained(run: Run, loop: Loop): Promise<void> {
  const over = new AbortController();
  await Promise.race([loop.stopped(), sleep(run.ports.clock, drainMs, over.signal)]);
  over.abort();
}

/** Until the slot or the run ends, or the host wants to stop. */
async function untilDone(run: Run, deadlineMs: number, stop: AbortSignal | undefined): Promise<void> {
  const until = new AbortController();
  const end = () => until.abort();
  if (stop?.aborted || run.ended()) return;
  stop?.addEventListener('abort', end);
  run.signal.addEventListener('abort', end);
  await sleep(run.ports.clock, deadlineMs - run.ports.clock.nowMs(), until.signal);
  stop?.removeEventListener('abort', end);
}

/** A part of the run that throws ends the run: half a run would keep a false beat. */
function guarded(run: Run, work: Promise<void>): Promise<void> {
  return work.catch((cause: unknown) => {
    run.ports.log.error('a part of the run failed', { shard: run.message.shard, cause });
    run.end({ kind: 'doubt', reason: 'a part of the run failed' });
  });
}

/** `observedAtMs`: everything that was due before has begun. */
function observer(run: Run, loop: Loop): () => BeatState {
  let observedAtMs = run.ports.clock.nowMs();
  return () => {
    const late = loop.late();
    observedAtMs = Math.max(observedAtMs, Math.min(run.ports.clock.nowMs(), ...late.map(({ dueMs }) => dueMs)));
    return { observedAtMs, late: late.map(({ name }) => name) };
  };
}

function checkpointer(holder: Holder, loader: Loader) {
  const { run } = holder;
  const written = new Map<Bucket, string>();
  const write = async () => {
    for (const [bucket, entries] of loader.checkpoints())
      if (!written.has(bucket)) written.set(bucket, JSON.stringify(entries));
    await writeCheckpoints(run, checkpointEntries(holder.targets.values()), written);
  };
  const keep = async () => {
    while (!run.ended()) {
      await sleep(run.ports.clock, checkpointIntervalMs, run.signal);
      if (!run.ended()) await write();
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

function holderOf(run: Run, loop: Loop): Holder {
  const reread = async (held: HeldTarget) => {
    const read = await readTarget(run.ports.store, held.address);
    if (held.gone || run.ended()) return;
    if (read) adoptTarget(holder, read, {});
    else dropTarget(holder, held);
  };
  const holder: Holder = {
    run,
    commits: commitQueue(run),
    publisher: publisherOf(run),
    targets: new Map(),
    schedule: loop.schedule,
    scheduleTarget: loop.scheduleTarget,
    reread,
    async reload(held) {
      dropTarget(holder, held);
      const read = await readTarget(run.ports.store, held.address);
      if (read && !run.ended()) adoptTarget(holder, read, {});
    },
  };
  return holder;
}
