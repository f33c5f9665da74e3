/** The ports that the API needs. No adapters: the same app runs on one machine and behind an HTTP API. */
import type { Bus, EventEnvelope } from '../../bus/bus.ts';
import type { Quotas } from '../../core/shards/quota.ts';
import type { Json } from '../../lib/json.ts';
import type { Log } from '../../lib/log.ts';
import type { Random } from '../../lib/random.ts';
import type { Advise } from '../../prober/advice.ts';
import type { Poison } from '../../store/records/items.ts';
import type { TargetAddress } from '../../store/records/keys.ts';
import type { Store } from '../../store/store.ts';
import type { BodyDeps } from '../http/body.ts';

export type ApiDeps = BodyDeps & {
  readonly store: Store;
  readonly bus: Bus;
  readonly random: Random;
  readonly log: Log;
  readonly health: () => Health | Promise<Health>;
  /** Answers with Prometheus' text format; absent: there is no `/metrics`. */
  readonly metrics?: (request: Request) => Response;
  /** Events as they are published; absent: there is no `/v1/watch`. */
  readonly watch?: WatchSource;
  /** Maximum number of simultaneous watchers; default 100. */
  readonly watchersMax?: number;
  /** Every route but `/healthz` requires it as a bearer token; absent: access control is in front of the app. */
  readonly token?: string;
  /** Absent: limited only by the store. */
  readonly quotas?: Quotas;
  /** The probes of a spec that the prober's configuration refuses; absent: unknown. */
  readonly advise?: Advise;
  /** Called for each item that cannot be read, each time it is read. */
  readonly onPoison?: (poison: Poison) => void;
  /**
   * Called after each write to a terminating target and before the answer, so that a holder in this process stops
   * liveness and startup by then. Absent: the holder is elsewhere, and notices the change itself.
   */
  readonly onTerminating?: (address: TargetAddress) => Promise<void>;
};

export type Health = {
  /** false: the process should not get traffic (503). An unreadable item is not a reason. */
  readonly ok: boolean;
  readonly quarantined: readonly Poison[];
  /**
   * Why the prober's present observations do not count, or why a shard has no holder. The process works: a restart
   * would not help.
   */
  readonly doubts?: readonly ShardDoubt[];
  /** Where more probes are due than can begin in time. Their results count. */
  readonly overloads?: readonly ShardDoubt[];
  readonly details?: { readonly [name: string]: Json };
};

/** `shard`: absent if a process has only one. `socketsMax`: descriptors for probes, if the machine refused more. */
export type ShardDoubt = {
  readonly reason: string;
  readonly sinceMs?: number;
  readonly shard?: string;
  readonly socketsMax?: number;
};

/**
 * Calls the subscriber with each event from now on, and waits for the promise that it returns. The returned function
 * ends the subscription.
 */
export type WatchSource = (subscriber: (event: EventEnvelope) => Promise<void>) => () => void;
