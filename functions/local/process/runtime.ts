/**
 * The composition root for one machine: schedule, prober, status-sync and API on a SQLite file, an in-process bus, and
 * the machine's network.
 */
import { apiApp } from '../../../shared/api/app.ts';
import type { ApiDeps } from '../../../shared/api/ports/deps.ts';
import { type InProcessBus, inProcessBus } from '../../../shared/bus/in-process.ts';
import { processLimits, withLimits } from '../../../shared/core/shards/quota.ts';
import type { RunView } from '../../../shared/holder/shard-run.ts';
import { type Clock, within } from '../../../shared/lib/clock.ts';
import type { Log } from '../../../shared/lib/log.ts';
import type { Random } from '../../../shared/lib/random.ts';
import type { Slices } from '../../../shared/lib/slices.ts';
import type { Poison } from '../../../shared/store/records/items.ts';
import { type SqliteStore, sqliteStore } from '../../../shared/store/sqlite/sqlite.ts';
import type { Store } from '../../../shared/store/store.ts';
import { type LocalAlertPorts, localAlerts } from '../alerts/alerts.ts';
import { type Configuration, type ConfigurationPorts, followConfig } from '../config/configuration.ts';
import { poisonList } from '../metrics/poison-list.ts';
import { processMetrics } from '../metrics/process-metrics.ts';
import { restartTally } from '../metrics/restart-tally.ts';
import type { LocalOptions } from '../options/options.ts';
import { BodyRoom } from '../server/body-room.ts';
import { slicedStore } from '../server/sliced-store.ts';
import { yamlParser } from '../threads/yaml-parser.ts';
import { census } from './census.ts';
import { type DataDir, holdDataDir } from './data-dir.ts';
import type { DescriptorShares } from './descriptors.ts';
import { hangFile, takeHangFile } from './hang-file.ts';
import { boundHistory } from './history-bounds.ts';
import { localProbing, type Probing, type ProbingOptions } from './probing.ts';
import { hostShard, type ShardHost } from './shard-host.ts';
import { subscribeStatusSync } from './status-sync.ts';
import { watchedStore } from './store-health.ts';
import { sweepRegularly } from './sweep.ts';

/** An answer waits so long for the holder to notice a deletion: a slow store delays it no further. */
const noticesMs = 500;

type FilePorts = Pick<ConfigurationPorts, 'openConverter' | 'fileSearch' | 'watchFolder'>;

export type RuntimePorts = Pick<ProbingOptions, 'network' | 'wayOut' | 'attribution'> &
  Pick<LocalAlertPorts, 'openAlertLog' | 'openSender'> &
  FilePorts & {
    readonly clock: Clock;
    readonly random: Random;
    readonly log: Log;
    /** The clock of alerts, for tests in which it runs faster. */
    readonly alertClock?: Clock;
    /** The clock of the configuration's files, for tests in which it runs faster. */
    readonly configClock?: Clock;
    /** Opens the store, for tests that lose power. */
    readonly openStore?: typeof sqliteStore;
    /** In place of the machine's network and commands, for tests with a script of what probes find. */
    readonly probing?: Probing;
    /** Wraps the store, for tests that count or break its calls. */
    readonly wrapStore?: (store: Store) => Store;
    /** Wraps the bus, for tests that lose events. */
    readonly wrapBus?: (bus: InProcessBus) => InProcessBus;
    /** If absent, descriptors are not divided. */
    readonly shares?: DescriptorShares;
    /** In which requests to the API are carried out. If absent, they are carried out as they come. */
    readonly turns?: Slices | undefined;
  };

export type Runtime = {
  /** Handles a request to the API. */
  readonly fetch: (request: Request) => Response | Promise<Response>;
  readonly bus: InProcessBus;
  readonly shard: ShardHost;
  /** Reads the configuration again, if there is one. */
  readonly reload: () => void;
  stop(): Promise<void>;
};

type RuntimeOptions = Omit<LocalOptions, 'host' | 'port' | 'warning' | 'canaries'>;

export function startRuntime(options: RuntimeOptions, ports: RuntimePorts): Runtime {
  const { clock, random, log, shares, turns } = ports;
  const pause = turns?.pause;
  const dataDir = holdDataDir(options.dataDir);
  const { openStore = sqliteStore } = ports;
  const sqlite = openStore({ path: dataDir.storePath, onWrite: (changes) => quotas.written(changes) });
  const quotas = census(withLimits(processLimits, options.quotas ?? {}), { store: sqlite, clock });
  const { store, problem: storeProblem } = watchedStore(ports.wrapStore?.(sqlite) ?? sqlite, clock);
  void takeHangFile({ store, clock, random, log }, hangFile(options.dataDir));
  const bus = wrappedBus(ports);
  const shared = { store, bus, clock, random, log };
  const { allowExec, secretHosts, tlsSessionResumption, config } = options;
  const probing = ports.probing ?? localProbing({ ...ports, allowExec, secretHosts, tlsSessionResumption });
  const met = poisonList(clock);
  const quarantined = () => met.with(shard.view()?.quarantined ?? []);
  const requests = restartTally();
  const views = () => lastViewed(shard);
  const notMonitored = () => configuration.notMonitored();
  const quarantinedItems = () => quarantined().length;
  const metrics = processMetrics({ ...options, clock, pause, requests, views, quarantinedItems, notMonitored });
  subscribeStatusSync(bus, { ...shared, bus: requests.counted(bus) });
  const shard = hostShard(
    { ...shared, canaries: probing.canaries, forRun: probing.forRun, metrics: metrics.probes },
    { ...(options.mode && { mode: options.mode }), ...(shares && { probesMax: shares.probesMax }) },
  );
  const deps: ApiDeps = {
    ...shared,
    metrics: metrics.answer,
    onPoison: met.add,
    quotas,
    advise: probing.advise,
    health: () => healthOf(shard, quarantined(), config && notMonitored()),
    onTerminating: async (address) => within(clock, Promise.resolve(shard.view()?.reread(address)), noticesMs),
    watch: (subscriber) => bus.subscribe({ source: ['probelet'] }, subscriber, { name: 'watch' }),
    ...(shares && { watchersMax: shares.watchersMax }),
    ...(options.token !== undefined && { token: options.token }),
  };
  const api = servedApi(deps, turns);
  const configuration = configured(options, dataDir, { ...ports, store, storeProblem, bus, shard, deps });
  const endUpkeep = keepUp(sqlite, { clock, log });
  return {
    fetch: api.fetch,
    bus,
    shard,
    reload: configuration.reload,
    async stop() {
      endUpkeep();
      await configuration.stop();
      await api.close();
      await shard.stop();
      await probing.close();
      await bus.settled();
      sqlite.close();
      dataDir.release();
    },
  };
}

/** Removes from the file what has expired, and events beyond their number. Returns a function that ends it. */
function keepUp(sqlite: SqliteStore, ports: Pick<RuntimePorts, 'clock' | 'log'>): () => void {
  const endSweeping = sweepRegularly({ ...ports, sweep: sqlite.sweep });
  const endTrimming = boundHistory({ ...ports, trim: sqlite.trimHistory, usedBytes: sqlite.usedBytes });
  return () => {
    endSweeping();
    endTrimming();
  };
}

/** What the requests of clients have of each turn and of the memory. The configuration is applied beside them. */
function servedApi(deps: ApiDeps, turns: Slices | undefined) {
  const yaml = yamlParser(deps.clock);
  const room = turns && new BodyRoom(turns);
  const inTurns = turns && { store: slicedStore(deps.store, turns), pause: turns.pause };
  const app = apiApp({ ...deps, parseYaml: yaml.parse, ...inTurns, ...(room && { admit: room.admit }) });
  const fetch = async (request: Request) => {
    try {
      return await app.fetch(request);
    } finally {
      room?.leave(request);
    }
  };
  return { fetch, close: yaml.close };
}

function wrappedBus({ clock, random, log, wrapBus = (bus) => bus }: RuntimePorts): InProcessBus {
  return wrapBus(inProcessBus({ clock, random, log }));
}

type ConfiguredPorts = LocalAlertPorts & FilePorts & Pick<RuntimePorts, 'configClock'> & { readonly deps: ApiDeps };

/** Alerts stop after the configuration that gives them. */
function configured(
  { config, allowExec }: Pick<LocalOptions, 'config' | 'allowExec'>,
  dataDir: DataDir,
  ports: ConfiguredPorts,
): Configuration {
  if (!config) return { reload: () => undefined, notMonitored: () => 0, stop: async () => undefined };
  const alerts = localAlerts(dataDir, { ...ports, allows: allowExec });
  const { deps, configClock: clock = ports.clock, openConverter, fileSearch, watchFolder } = ports;
  const following = { deps, clock, onAlerts: alerts.configure, openConverter, fileSearch, watchFolder };
  const { reload, notMonitored, stop } = followConfig(config, following);
  return {
    reload,
    notMonitored,
    async stop() {
      await stop();
      await alerts.stop();
    },
  };
}

function lastViewed(shard: ShardHost): readonly RunView[] {
  const view = shard.lastView();
  return view ? [view] : [];
}

/**
 * Healthy means that the process holds its shard. Quarantined items, and what its configuration cannot monitor, are
 * reported but do not make it unhealthy.
 */
function healthOf(shard: ShardHost, quarantined: readonly Poison[], notMonitored: number | undefined) {
  const view = shard.view();
  const { targets = 0, probes = 0, inFlight = 0 } = view ?? {};
  const { doubt, overload } = view?.beat ?? {};
  const doubts = doubt ? [doubt] : [];
  const overloads = overload ? [overload] : [];
  return {
    ok: shard.isWell(),
    quarantined,
    doubts,
    overloads,
    details: { targets, probes, inFlight, ...(notMonitored !== undefined && { notMonitored }) },
  };
}
