/**
 * Holds everything in one process: the schedule, which runs at the start and every minute, its queue, and the host of
 * the runs. The components are the same as on AWS, except that the layout has one shard, which is always held by
 * default.
 */
import { type LayoutContext, unlimitedCapacity } from '../../../shared/core/shards/layout.ts';
import { aheadMsMax, hasCome } from '../../../shared/core/shards/slots.ts';
import { hostShards } from '../../../shared/holder/host.ts';
import { newSocketBudget } from '../../../shared/holder/probing/sockets.ts';
import { runReceived } from '../../../shared/holder/receipt.ts';
import type { Ports } from '../../../shared/holder/run.ts';
import type { RunView, ShardMemory } from '../../../shared/holder/shard-run.ts';
import { inProcessQueue } from '../../../shared/queue/in-process.ts';
import type { ShardMessage } from '../../../shared/queue/queue.ts';
import { keepSchedule } from './keep-schedule.ts';
import type { Probing } from './probing.ts';

const visibilityMs = 15_000;
const retentionMs = 3_600_000;
/** One run holds the shard; the other is free for a rescue. */
const concurrency = 2;

export type ShardHost = {
  /** Resolves when the first run has loaded every target. */
  readonly loaded: Promise<void>;
  /** The view of the latest run, which in tick mode may be a minute old. Undefined if the shard is not held. */
  view(): RunView | undefined;
  /** The same, but when the shard is not held it returns the last run's view, whose probes become late. */
  lastView(): RunView | undefined;
  /** Whether the shard is held when it should be. */
  isWell(): boolean;
  stop(): Promise<void>;
};

type OfRun = ReturnType<Probing['forRun']>;

export type HostedPorts = Omit<Ports, 'lease' | keyof OfRun> & Pick<Probing, 'forRun'>;

export type HostOptions = {
  /** Defaults to `resident`. */
  readonly mode?: LayoutContext['mode'];
  /** Descriptors for probes. Defaults to those of a function on AWS. */
  readonly probesMax?: number;
};

export function hostShard(ports: HostedPorts, { mode = 'resident', probesMax }: HostOptions = {}): ShardHost {
  const { clock, log } = ports;
  const stop = new AbortController();
  const queue = inProcessQueue({ clock, visibilityMs, retentionMs });
  // The new queue is empty, so the current slot's message must be sent again.
  const options = { capacity: unlimitedCapacity, mode, repeatCurrent: true };
  const schedule = keepSchedule({ ...ports, queue }, options, stop.signal);
  const memory: ShardMemory = new Map();
  const socketBudget = newSocketBudget(clock, probesMax);
  const { promise: loaded, resolve: onFirstLoad } = Promise.withResolvers<void>();
  let view: (() => RunView) | undefined;
  let lastView: typeof view;
  let isFirst = true;

  const runs = hostShards({
    clock,
    log,
    receiver: queue,
    concurrency,
    stop: stop.signal,
    portsFor: (lease) => ({ ...ports, ...ports.forRun(), lease }),
    async runShard(runPorts, message, deadlineMs, options) {
      let own: typeof view;
      const sent = ofOneClock(message);
      const first = isFirst ? ofNewProcess(sent) : sent;
      const isAlone = isFirst;
      isFirst = false;
      const onLoaded = (look: () => RunView) => {
        own = look;
        view = look;
        lastView = look;
        onFirstLoad();
        // In tick mode only the schedule starts the next slot. Waking it here would start each slot as soon as the
        // previous run has loaded.
        if (message.mode !== 'tick') schedule.wake();
      };
      const whole = { ...options, isAlone, memory, socketBudget, onLoaded };
      const end = await runWhole(runPorts, first, deadlineMs, whole);
      // Before that it may not even have claimed the shard.
      isFirst ||= isAlone && !own;
      // The shard stays held from one slot to the next, so the old view remains until the new run has loaded.
      if (view === own && end.kind !== 'slotDone') view = undefined;
      // A machine that was suspended past the end of a slot does not wait for the next minute.
      if (end.kind !== 'slotDone') schedule.wake();
      return end;
    },
  });
  return {
    loaded,
    view: () => view?.(),
    lastView: () => lastView?.(),
    isWell: () => view !== undefined || (mode !== 'resident' && schedule.succeeds()),
    async stop() {
      stop.abort();
      await Promise.all([runs, schedule.ended]);
    },
  };
}

/**
 * The schedule has the clock of this process, so it is never behind: a slot that has not come was begun before the
 * clock was set, whether the schedule had seen it or not.
 */
const ofOneClock = (message: ShardMessage): ShardMessage => ({ ...message, seenSlot: Number.MAX_SAFE_INTEGER });

/**
 * The run of an earlier process has died with it, however fresh its last beat is, and whatever slot it has begun or
 * ended by a clock that was set since. So the first message of a process is a rescue, and waits for no other run.
 */
const ofNewProcess = (message: ShardMessage): ShardMessage =>
  message.mode === 'tick' ? message : { ...message, kind: 'rescue' };

/**
 * A run measures its slot by monotonic time. If the clock was set back meanwhile, the slot is not over, and no message
 * of a later one may have been sent: the rest is held as after a rescue.
 */
const runWhole: typeof runReceived = async (ports, message, deadlineMs, options) => {
  const rest = { ...options, redelivered: true, isAlone: false, aheadMs: 0 };
  let end = await runReceived(ports, message, deadlineMs, options);
  while (end.kind === 'slotDone' && isLeft(message, ports.clock.nowMs()) && !options?.stop?.aborted)
    end = await runReceived(ports, { ...message, kind: 'rescue' }, message.slotEndMs, rest);
  return end;
};

/**
 * Whether a slot that a run has held to its end is not over by the clock. A slot that is still to come has its message
 * sent again, and the schedule has no other clock than this process.
 */
const isLeft = ({ slot, slotEndMs, buckets, mode }: ShardMessage, nowMs: number): boolean =>
  mode !== 'tick' && slotEndMs - nowMs > aheadMsMax && hasCome({ from: buckets.from, mode: 'resident' }, slot, nowMs);
