/**
 * Holds everything in this one process: the schedule, at the start and each minute, the queue it sends to, and the host of the runs. The
 * same pieces as on AWS, but for a layout of one shard, which is always held unless another mode is asked for.
 */
import type { Capacity, LayoutContext } from '../../shared/core/layout.ts';
import { hostShards } from '../../shared/manager/host.ts';
import type { Ports } from '../../shared/manager/ports.ts';
import { runReceived } from '../../shared/manager/receipt.ts';
import { probeRoom } from '../../shared/manager/room.ts';
import type { RunView } from '../../shared/manager/run-shard.ts';
import type { ShardMemory } from '../../shared/manager/shard-memory.ts';
import { inProcessQueue } from '../../shared/queue/in-process.ts';
import { keepSchedule } from './keep-schedule.ts';
import type { Probing } from './probing.ts';

const visibilityMs = 15_000;
const retentionMs = 3_600_000;
/** One holds the shard; the other is free for a rescue. */
const concurrency = 2;
/** There is nobody to share with. */
const unlimited: Capacity = { cpu: Number.POSITIVE_INFINITY, sockets: Number.POSITIVE_INFINITY };

export type ShardHost = {
  /** Resolves when the first run has loaded every target. */
  readonly loaded: Promise<void>;
  /** Of the shard as it was held last; in tick mode that is up to a minute ago. undefined: it is not held. */
  view(): RunView | undefined;
  /** The same, and while nobody holds it what has become of the last run's probes since: later and later. */
  lastView(): RunView | undefined;
  /** Whether the shard is held when it should be. */
  isWell(): boolean;
  stop(): Promise<void>;
};

type OfRun = ReturnType<Probing['forRun']>;

export type HostedPorts = Omit<Ports, 'lease' | keyof OfRun> & Pick<Probing, 'forRun'>;

export type HostOptions = {
  /** Default `resident`. */
  readonly mode?: LayoutContext['mode'];
  /** Descriptors that probes may hold; default: those of a function. */
  readonly probesMax?: number;
};

export function hostShard(ports: HostedPorts, { mode = 'resident', probesMax }: HostOptions = {}): ShardHost {
  const { clock, log } = ports;
  const stop = new AbortController();
  const queue = inProcessQueue({ clock, visibilityMs, retentionMs });
  // The queue is new and knows nothing of what was sent before.
  const options = { capacity: unlimited, mode, repeatCurrent: true };
  const schedule = keepSchedule({ ...ports, queue }, options, stop.signal);
  const memory: ShardMemory = new Map();
  const room = probeRoom(probesMax);
  const { promise: loaded, resolve: onFirstLoad } = Promise.withResolvers<void>();
  let view: (() => RunView) | undefined;
  let lastView: typeof view;

  const runs = hostShards({
    clock,
    log,
    receiver: queue,
    concurrency,
    stop: stop.signal,
    portsFor: (lease) => ({ ...ports, ...ports.forRun(), lease }),
    async runShard(runPorts, message, deadlineMs, options) {
      let own: typeof view;
      const onLoaded = (look: () => RunView) => {
        own = look;
        view = look;
        lastView = look;
        onFirstLoad();
        // The minutes of a shard in tick mode are the schedule's own: each would begin when the last one's run has loaded.
        if (message.mode !== 'tick') schedule.wake();
      };
      const end = await runReceived(runPorts, message, deadlineMs, { ...options, memory, room, onLoaded });
      // From one slot to the next the shard is held all the time; the old view does until the new run has loaded.
      if (view === own && end.kind !== 'slotDone') view = undefined;
      // A machine that slept through the end of a slot does not wait for the minute.
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
