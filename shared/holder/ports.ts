/**
 * What a run needs from its environment. The same code runs in Lambda, in one process and in the simulation: only these
 * ports differ.
 */
import type { Bus } from '../bus/bus.ts';
import type { Reach } from '../core/self/health.ts';
import type { Attribution } from '../lib/attribution.ts';
import type { Clock } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';
import type { Random } from '../lib/random.ts';
import type { Dial, Resolve } from '../net/net.ts';
import type { ProbeMetrics } from '../prober/metrics.ts';
import type { Probers } from '../prober/prober.ts';
import type { Lease, QueueSender } from '../queue/queue.ts';
import type { Store } from '../store/store.ts';
import { patientStore } from '../store/throttled.ts';

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
