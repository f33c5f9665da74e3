/** What a run needs from the world. The same code runs in Lambda, in one process and in simulation: only these differ. */
import type { Bus } from '../bus/bus.ts';
import type { Reach } from '../core/self-health.ts';
import type { Attribution } from '../lib/attribution.ts';
import type { Clock } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';
import type { Random } from '../lib/random.ts';
import type { Dial, Resolve } from '../net/net.ts';
import type { ProbeMetrics } from '../prober/metrics.ts';
import type { Probers } from '../prober/prober.ts';
import type { Lease } from '../queue/queue.ts';
import type { Store } from '../store/store.ts';

export type Ports = {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly store: Store;
  /**
   * The same table for claims, beats, commits and checkpoints, with sockets of its own: reads of thousands of targets must not delay a
   * beat. Absent: `store`, which has no sockets that could run out.
   */
  readonly fencedStore?: Store;
  readonly bus: Bus;
  /** The run's own message: its visibility is the lease. */
  readonly lease: Lease;
  /** The network, for what the prober itself wants to know of it. */
  readonly dial: Dial;
  readonly resolve: Resolve;
  /** What answers for as long as the prober's own network is all right, each on its way: loopback, or beyond. None: it relies on the rest. */
  readonly canaries: readonly Canary[];
  /** One attempt of a probe, per kind; they dial and resolve with the same ports. */
  readonly probers: Probers;
  /** What lies between this process and who runs the commands of exec probes; absent: nothing, they run on this machine. */
  readonly execReach?: Reach;
  readonly metrics: ProbeMetrics;
  /** CPU time that this process has used; absent: not known. */
  readonly cpuMs?: () => number;
  /** Knows for whom the event loop works; absent: nobody asks. */
  readonly attribution?: Attribution | undefined;
  /** Ends the time of this run's probers: what they still wait for is over at once, and its sockets and commands with it. */
  readonly abandon: () => void;
};

/** What claims, beats, commits and checkpoints go through. */
export const fencedPorts = ({ store, fencedStore = store, clock, random }: FencedPorts) => ({
  store: fencedStore,
  clock,
  random,
});

type FencedPorts = Pick<Ports, 'store' | 'clock' | 'random'> & { readonly fencedStore?: Store | undefined };

export type Canary = { readonly host: string; readonly port: number };
