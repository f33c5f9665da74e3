/** What the API needs from the world. Ports only: the same app runs on one machine and behind an HTTP API. */
import type { Bus } from '../bus/bus.ts';
import type { EventEnvelope } from '../bus/envelope.ts';
import type { Quotas } from '../core/quota.ts';
import type { Clock } from '../lib/clock.ts';
import type { Json } from '../lib/json.ts';
import type { Log } from '../lib/log.ts';
import type { Random } from '../lib/random.ts';
import type { Advise } from '../prober/advice.ts';
import type { Poison } from '../store/items.ts';
import type { Store } from '../store/store.ts';

export type ApiDeps = {
  readonly store: Store;
  readonly bus: Bus;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly health: () => Health | Promise<Health>;
  /** Prometheus' text format; absent: there is no `/metrics`. */
  readonly metrics?: () => Promise<string>;
  /** Events as they are published; absent: there is no `/v1/watch`. */
  readonly watch?: WatchSource;
  /** Clients that may watch at the same time; default 100. */
  readonly watchersMax?: number;
  /** Every route but `/healthz` asks for it as a bearer token; absent: whoever guards the door is in front. */
  readonly token?: string;
  /** Absent: as much may be registered as the store takes. */
  readonly quotas?: Quotas;
  /** Which probes of a spec the prober refuses by its configuration; absent: unknown. */
  readonly advise?: Advise;
  /** Called for each item that cannot be read, each time it is read. */
  readonly onPoison?: (poison: Poison) => void;
};

export type Health = {
  /** false: the process should not get traffic (503). One item that cannot be read is no reason. */
  readonly ok: boolean;
  readonly quarantined: readonly Poison[];
  /** Why nothing counts that the prober sees now, or why nobody probes. The process works: a restart would help nobody. */
  readonly doubts?: readonly ShardDoubt[];
  readonly details?: { readonly [name: string]: Json };
};

/** `shard`: absent where a process has only one. */
export type ShardDoubt = { readonly reason: string; readonly sinceMs?: number; readonly shard?: string };

/** Calls the subscriber with each event from now on, at its pace if it waits for what is returned; returns what ends it. */
export type WatchSource = (subscriber: (event: EventEnvelope) => Promise<void>) => () => void;
