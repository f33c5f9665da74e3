/** One run of a shard: its token, its lease, and the only place that decides whether it is still in force. */

import type { Bus } from '../bus/bus.ts';
import type { Reach } from '../core/self/health.ts';
import type { Attribution } from '../lib/attribution.ts';
import type { Clock } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';
import type { Random } from '../lib/random.ts';
import type { Dial, Resolve } from '../net/net.ts';
import type { ProbeMetrics } from '../prober/metrics.ts';
import type { Probers } from '../prober/prober.ts';
import type { Lease, QueueSender, ShardMessage } from '../queue/queue.ts';
import type { Store } from '../store/store.ts';
import { patientStore } from '../store/throttled.ts';

/** How a run ended. This decides what happens to its message (shared/holder/host.ts). */
export type RunEnd =
  /** The slot is over. The message is done. */
  | { readonly kind: 'slotDone' }
  /** The slot of the message is over or done, or its generation is old: nothing was claimed. The message is done. */
  | { readonly kind: 'stale' }
  /** The shard has another range by now, and its new message is on the way. The message is done. */
  | { readonly kind: 'moved' }
  /** The successor asked the run to leave. The message is done. */
  | { readonly kind: 'asked' }
  /** A higher token has been set. The message is done, if its handle is still valid. */
  | { readonly kind: 'fenced' }
  /** The run left early and in order, so that another process continues with the same message at once. */
  | { readonly kind: 'handover' }
  /**
   * The message is not acknowledged: another process may have received it by now, and deleting it would take it from
   * that process.
   */
  | { readonly kind: 'doubt'; readonly reason: string };

export type Run = {
  readonly ports: Ports;
  readonly message: ShardMessage;
  readonly token: number;
  /** The version of LAYOUT from which the token was taken. An older version says nothing about this run. */
  readonly layoutVersion: number;
  /** When the lease was first set, monotonic. */
  readonly startedAtMs: number;
  readonly release: string;
  /**
   * Whether the run sets the EPOCH of a bucket together with its first write there. Otherwise it has claimed every
   * bucket before. See `claimRun`.
   */
  readonly claimsOnWrite: boolean;
  /** How far the wall clock of this process is ahead of the schedule's, which counts the slots. */
  readonly aheadMs: number;
  /** Aborted when the run has ended. Every wait of the run ends with it. */
  readonly signal: AbortSignal;
  ended(): RunEnd | undefined;
  /** Ends the run at once. The first call decides how. */
  end(end: RunEnd): void;
  /**
   * Asks the run to end in order: it begins nothing more, writes what its successor needs, then ends as given. The
   * first call decides.
   */
  leave(end: RunEnd): void;
  /** Aborted when the run has ended or has been asked to leave. */
  readonly leaving: AbortSignal;
  /** The end given to `leave`, if any. */
  wish(): RunEnd | undefined;
  /** Reports a successful beat that began at this time (monotonic). */
  confirm(startedAtMs: number): void;
  /** When the last successful beat began, monotonic; before the first one, when the lease was set. */
  confirmedAtMs(): number;
  /**
   * Whether the run may still write and publish; asked right before each write. After a pause of the process a write
   * may come before any timer. So this function itself ends the run if the last successful beat began too long ago.
   */
  inForce(): boolean;
};

/** What a self-check needs of a run. A process that gives another one a second look has no more than this. */
export type RunLike = Pick<Run, 'ports' | 'token' | 'signal'> & { readonly message: Pick<ShardMessage, 'shard'> };

/** If the last successful beat began longer ago than this, the run writes and publishes nothing more. */
const selfFenceMs = 12_000;

export type RunStart = Pick<
  Run,
  'ports' | 'message' | 'token' | 'layoutVersion' | 'startedAtMs' | 'release' | 'aheadMs'
>;

export function startRun({ ports, message, token, layoutVersion, startedAtMs, release, aheadMs }: RunStart): Run {
  const { clock, log } = ports;
  const abort = new AbortController();
  let confirmedAtMs = startedAtMs;
  const leave = new AbortController();
  let ended: RunEnd | undefined;
  let wish: RunEnd | undefined;
  const end = (given: RunEnd) => {
    if (ended) return;
    ended = given;
    if (given.kind === 'doubt' || given.kind === 'fenced')
      log.warn('run ended', { shard: message.shard, token, end: given });
    abort.abort();
    leave.abort();
  };
  return {
    ports,
    message,
    token,
    layoutVersion,
    startedAtMs,
    release,
    claimsOnWrite: false,
    aheadMs,
    signal: abort.signal,
    ended: () => ended,
    end,
    leaving: leave.signal,
    wish: () => wish,
    leave(given) {
      wish ??= given;
      leave.abort();
    },
    confirm(startedAtMs) {
      confirmedAtMs = startedAtMs;
    },
    confirmedAtMs: () => confirmedAtMs,
    inForce() {
      if (!ended && clock.monotonicMs() - confirmedAtMs > selfFenceMs)
        end({ kind: 'doubt', reason: 'no successful beat for 12 s' });
      return !ended;
    },
  };
}

// What a run needs from its environment. The same code runs in Lambda, in one process and in the simulation: only these
// ports differ.

export type Ports = {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly store: Store;
  /**
   * The same table for claims, beats, commits and checkpoints, but with separate sockets: reads of thousands of targets
   * must not delay a beat. It throws `StoreThrottled` at the first throttle, because commits slow down together.
   * Absent: `store` is used, because it has neither sockets that could run out nor a limited capacity.
   */
  readonly fencedStore?: Store;
  readonly bus: Bus;
  /** The lease of the run: the visibility of its message. */
  readonly lease: Lease;
  /** The network, for the self-check of the prober. */
  readonly dial: Dial;
  readonly resolve: Resolve;
  /**
   * Addresses that answer while the prober's own network works. Each covers one reach. Empty: the
   * self-check relies on its other signs.
   */
  readonly canaries: readonly Canary[];
  /** How to ask another process for its look. Absent: there is no other place. */
  readonly secondPlace?: SecondPlacePort;
  /** One attempt of a probe, per kind of handler. The probers dial and resolve with the ports above. */
  readonly probers: Probers;
  /**
   * The network path to the process that runs the commands of exec probes. Absent: there is none, the commands run on
   * this machine.
   */
  readonly execReach?: Reach;
  readonly metrics: ProbeMetrics;
  /** CPU time that this process has used or waited for (shared/lib/cpu-time.ts), in ms; absent: unknown. */
  readonly cpuMs?: () => number;
  /** Records which work the event loop runs; absent: no watchdog needs to know. */
  readonly attribution?: Attribution | undefined;
  /** Stops the probers of this run: all their waits end at once, and their sockets and commands are destroyed. */
  readonly abandon: () => void;
};

/** The ports for claims, beats and checkpoints, which are few and are repeated while they are throttled. */
export const fencedPorts = ({ store, fencedStore = store, clock, random }: FencedPorts, longestPauseMs?: number) => ({
  store: patientStore(fencedStore, { clock, random, ...(longestPauseMs && { longestMs: longestPauseMs }) }),
  clock,
  random,
});

type FencedPorts = Pick<Ports, 'store' | 'clock' | 'random'> & { readonly fencedStore?: Store | undefined };

export type SecondPlacePort = {
  /** Names this process. */
  readonly place: string;
  readonly send: QueueSender['send'];
};

export type Canary = {
  readonly host: string;
  readonly port: number;
  /** Nothing says that it stands for the route that its address has. */
  readonly ofAnyRoute?: true;
};
