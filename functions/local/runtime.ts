/** The composition root of one machine: the four pieces of the product on a file, a bus in process, and this machine's network. */
import { apiApp } from '../../shared/api/app.ts';
import { type InProcessBus, inProcessBus } from '../../shared/bus/in-process.ts';
import { localRunner } from '../../shared/exec/local.ts';
import { type Clock, endingClock } from '../../shared/lib/clock.ts';
import type { Log } from '../../shared/lib/log.ts';
import type { Random } from '../../shared/lib/random.ts';
import type { Canary } from '../../shared/manager/ports.ts';
import type { Poison } from '../../shared/manager/read-target.ts';
import type { RunView } from '../../shared/manager/run-shard.ts';
import { syncTarget } from '../../shared/manager/status-sync.ts';
import { guardedDialer } from '../../shared/net/dialer.ts';
import type { DialPolicy } from '../../shared/net/net.ts';
import { dialPolicy } from '../../shared/net/policy.ts';
import { resolver } from '../../shared/net/resolver.ts';
import { proberRegistry } from '../../shared/prober/registry.ts';
import { sqliteStore } from '../../shared/store/sqlite.ts';
import type { Store } from '../../shared/store/store.ts';
import { localCanaries } from './canaries.ts';
import { holdDataDir } from './data-dir.ts';
import { environmentSecret } from './environment-secret.ts';
import { localMetrics, type UnknownProbes } from './metrics.ts';
import type { LocalOptions } from './options.ts';
import { poisonList } from './poison-list.ts';
import { hostShard, type ShardHost } from './shard-host.ts';
import { sweepRegularly } from './sweep.ts';

export type RuntimePorts = {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** What may be dialed and who is asked for names; default: what a single machine allows, and its own DNS servers. */
  readonly network?: { readonly policy: DialPolicy; readonly dnsServers: readonly string[] };
  /** Whoever is on the machine's way out to its targets, and answers for as long as that is there. */
  readonly wayOut?: readonly Canary[];
  /** The store as all pieces see it, for tests that count or break what goes through it. */
  readonly wrapStore?: (store: Store) => Store;
};

export type Runtime = {
  /** The API: a request in, a response out. */
  readonly fetch: (request: Request) => Response | Promise<Response>;
  readonly bus: InProcessBus;
  readonly shard: ShardHost;
  stop(): Promise<void>;
};

/** Targets whose status is computed at the same time. */
const syncConcurrency = 4;

export function startRuntime(
  options: Pick<LocalOptions, 'dataDir' | 'token' | 'allowExec'>,
  ports: RuntimePorts,
): Runtime {
  const { clock, random, log } = ports;
  const dataDir = holdDataDir(options.dataDir);
  const sqlite = sqliteStore({ path: dataDir.storePath });
  const store = ports.wrapStore?.(sqlite) ?? sqlite;
  const bus = inProcessBus({ clock, random, log });
  const resolve = resolver({ clock, ...(ports.network && { servers: ports.network.dnsServers }) });
  const policy = ports.network?.policy ?? dialPolicy({ mode: 'local' });
  const met = poisonList(clock);
  const quarantined = () => met.with(shard.view()?.quarantined ?? []);
  const metrics = localMetrics({
    quarantinedItems: () => quarantined().length,
    unknownProbes: () => unknownProbes(shard.view()),
  });
  const syncPorts = { store, bus, clock, random, log };

  bus.subscribe(
    { source: ['probelet'], 'detail-type': ['Probe Result Changed', 'Target Sync Requested'] },
    async ({ detail }) => {
      if ('target' in detail) await syncTarget(syncPorts, detail.target);
    },
    { name: 'status-sync', concurrency: syncConcurrency },
  );
  const canaries = localCanaries({ clock, resolve, wayOut: ports.wayOut ?? [] });
  const probing = () => {
    const own = endingClock(clock);
    const dial = guardedDialer({ resolve, policy, clock: own });
    const run = localRunner({ clock: own, ...(options.allowExec && { allows: options.allowExec }) });
    const probers = proberRegistry({ dial, clock: own, run, resolveSecret: environmentSecret });
    return { dial, probers, abandon: own.end };
  };
  const shared = { clock, random, log, store, bus, resolve, canaries: canaries.list, metrics: metrics.probes };
  const shard = hostShard({ ...shared, probing });
  const app = apiApp({
    store,
    bus,
    clock,
    random,
    log,
    metrics: metrics.text,
    onPoison: met.add,
    health: () => healthOf(shard, quarantined()),
    watch: (subscriber) => bus.subscribe({ source: ['probelet'] }, subscriber, { name: 'watch' }),
    ...(options.token !== undefined && { token: options.token }),
  });
  const stopSweeping = sweepRegularly({ clock, log, sweep: sqlite.sweep });

  return {
    fetch: (request) => app.fetch(request),
    bus,
    shard,
    async stop() {
      stopSweeping();
      await shard.stop();
      await canaries.close();
      await bus.settled();
      sqlite.close();
      dataDir.release();
    },
  };
}

/** What the API shows as unknown, counted. */
function unknownProbes(view: RunView | undefined): UnknownProbes {
  const { probes = 0, beat } = view ?? {};
  if (beat?.doubt) return { ProbeStale: 0, ProberDegraded: probes };
  return { ProbeStale: beat?.lateOverflow ? probes : (beat?.late.length ?? 0), ProberDegraded: 0 };
}

/** Alive is who holds the shard; an item that cannot be read is shown, not a reason to be restarted. */
function healthOf(shard: ShardHost, quarantined: readonly Poison[]) {
  const view = shard.view();
  const { targets = 0, probes = 0, inFlight = 0 } = view ?? {};
  return { ok: view !== undefined, quarantined, details: { targets, probes, inFlight } };
}
