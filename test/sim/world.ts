/** One simulated world of one seed: all processes of the product on one table, queue, bus and network. */

import type { InvocationContext } from '../../functions/lambda/environment.ts';
import type { FunctionPorts } from '../../functions/lambda/ports.ts';
import { proberFunction } from '../../functions/prober/prober.ts';
import { type StatusSyncAnswer, statusSyncFunction } from '../../functions/status-sync/status-sync.ts';
import { type ApiApp, apiApp } from '../../shared/api/app.ts';
import type { BusEvent } from '../../shared/bus/events.ts';
import { hostShards } from '../../shared/holder/host.ts';
import { newSocketBudget } from '../../shared/holder/probing/sockets.ts';
import { runReceived } from '../../shared/holder/receipt.ts';
import type { Ports } from '../../shared/holder/run.ts';
import type { ShardMemory } from '../../shared/holder/shard-run.ts';
import type { Log, LogFields } from '../../shared/lib/log.ts';
import type { ProbeMetrics } from '../../shared/prober/metrics.ts';
import type { Lease } from '../../shared/queue/queue.ts';
import { syncTarget } from '../../shared/status-sync/sync.ts';
import type { Store } from '../../shared/store/store.ts';
import { patientStore } from '../../shared/store/throttled.ts';
import { noSecrets } from '../support/no-secrets.ts';
import { type SimBus, simBus } from './bus.ts';
import { type Admission, admissionOf, unlimitedAdmission } from './capacity.ts';
import { type Chance, chanceOf } from './chance.ts';
import { type Client, clientOf } from './client.ts';
import { type Life, type Scheduler, startScheduler } from './clock.ts';
import { costlyStore } from './cpu.ts';
import { type CrashPoints, crashPoints } from './crash-points.ts';
import { type Faults, type Profile, planFaults } from './faults.ts';
import { forgedEvent } from './forgery.ts';
import { simFunction } from './function.ts';
import { canary, type Network, network, publicCanary } from './network.ts';
import { operate } from './operator.ts';
import { pooledStore } from './pooled-store.ts';
import { type ProberAnswer, type ProberMapping, proberMapping } from './prober-mapping.ts';
import { callerOf, type Env, type Population, population } from './process.ts';
import { type SimQueue, simQueue } from './queue.ts';
import { type Schedules, type Wanted, type WokenSchedule, wakeSchedules } from './schedule.ts';
import type { Setting } from './setting.ts';
import { statusSyncQueue } from './status-sync-queue.ts';
import { storeOf } from './store.ts';
import { type Table, table } from './table.ts';

export type World = {
  readonly scheduler: Scheduler;
  readonly profile: Profile;
  readonly table: Table;
  readonly bus: SimBus;
  readonly queue: SimQueue;
  readonly network: Network;
  readonly faults: Faults;
  readonly crashPoints: CrashPoints;
  readonly population: Population;
  readonly client: Client;
  /** Of the table, by whether it had capacity for them. */
  readonly calls: Admission['counts'];
  /** Logged errors, and exceptions that ended a process. */
  readonly problems: readonly string[];
  /** Calls the listener when a run begins. */
  onRun(listener: (run: StartedRun) => void): void;
  onWoken(listener: (woken: WokenSchedule) => void): void;
};

export type StartedRun = {
  readonly timeMs: number;
  readonly prober: string;
  readonly life: Life;
  /** Whether a rescue began it, where the world knows that. */
  readonly isRescue: boolean;
};

export type WorldOptions = {
  readonly seed: number;
  readonly profile: Profile;
  readonly setting: Setting;
  /** Sees every line of the trace. */
  readonly onLine?: (line: string) => void;
  /** Sees the calls of each process to the store. */
  readonly watchStore?: WatchStore;
};

/** `role`: of the process whose store it is. */
type WatchStore = (store: Store, role: string) => Store;

/** Time-outs of the functions, as deployed. */
const proberTimeoutMs = 900_000;
const syncTimeoutMs = 30_000;
/** Until a container replaces one that was killed. */
const killedMs = 500;
/** So many of the releases of functions do not start. */
const brokenPart = 0.4;
/** An unacknowledged delivery is repeated after this. */
const redeliveryMs = 20_000;
const deliveriesMax = 5;

export function buildWorld({ seed, profile, setting, onLine, watchStore }: WorldOptions): World {
  const chance = chanceOf(seed);
  const scheduler = startScheduler(chance.fork('order'), onLine);
  const problems: string[] = [];
  const onRun: ((run: StartedRun) => void)[] = [];
  const onWoken: ((woken: WokenSchedule) => void)[] = [];
  const points = crashPoints(scheduler, chance.fork('crash points'));
  const faults = planFaults({ scheduler, chance: chance.fork('faults'), profile });
  const net = network(scheduler, chance.fork('network'));
  const tab = table(scheduler.nowMs);
  const bus = simBus({ scheduler, chance: chance.fork('bus'), faults: faults.bus });
  const queue = simQueue({
    scheduler,
    chance: chance.fork('queue'),
    faults: faults.queue,
    visibilityMs: profile.queueVisibilityMs,
  });
  const people = population({
    scheduler,
    chance: chance.fork('people'),
    atCrashPoint: points.at,
    skewMs: (own) => own.between(-profile.skewMsMax, profile.skewMsMax),
    log: (life) => logOf(scheduler, life, problems),
    onProblem: (life, cause) => problems.push(`${life.name}: ${String(cause)}`),
    cpu: setting.cpu,
  });
  const { tableCapacity } = setting;
  const admission = tableCapacity ? admissionOf(tableCapacity, scheduler.nowMs) : unlimitedAdmission;
  const storePorts = { table: tab, scheduler, chance: chance.fork('store'), faults: faults.store, admission };
  const wanted: Wanted = { release: 'r1', isBroken: false, capacity: setting.capacity };
  const own: Own = { storePorts, bus, queue, net, scheduler, wanted, setting, ...(watchStore && { watchStore }) };

  const onProblem = (what: string) => void problems.push(what);
  const notifyRun = (run: StartedRun) => void onRun.map((listener) => listener(run));
  const replaceWorkers = setting.functions
    ? deployedWorkers({ own, people, chance: chance.fork('invocations'), onProblem }, notifyRun)
    : workers(own, people, { chance, notifyRun });
  let releases = 1;
  const releaseChance = chance.fork('releases');
  const goBack = (release: string) => {
    wanted.release = release;
    wanted.isBroken = false;
    replaceWorkers();
  };
  const schedules: Schedules = new Map();
  for (let number = 1; number <= 2; number += 1)
    people.start('schedule', number, async (env) => {
      schedules.set(env.life, { ...commonPorts(own, env), queue: queue.of(env.caller) });
      return 'serves';
    });
  wakeSchedules({
    scheduler,
    chance: chance.fork('ticks'),
    schedules,
    wanted,
    mode: setting.mode,
    ticks: faults.ticks,
    onWoken: (woken) => void onWoken.map((listener) => listener(woken)),
  });
  const syncing: Deploying = { own, people, chance: chance.fork('deliveries'), onProblem };
  bus.subscribe(setting.functions ? deployedSyncers(syncing) : syncers(syncing));
  const apps = new Map<Life, ApiApp>();
  for (let number = 1; number <= 2; number += 1)
    people.start('api', number, async (env) => {
      for (const life of apps.keys()) if (!life.alive) apps.delete(life);
      apps.set(env.life, apiApp({ ...commonPorts(own, env), health: () => ({ ok: true, quarantined: [] }) }));
      return 'serves';
    });
  const client = clientOf(scheduler, chance.fork('client'), apps);
  const operatorPorts = { scheduler, chance: chance.fork('operator'), client, network: net, setting };
  const operator = operate({ ...operatorPorts, isCalm: faults.isCalm });
  bus.subscribe(operator.hear);
  faults.start({
    population: people,
    crashPoints: points,
    duplicateMessage: queue.duplicate,
    forgeEvent: () => bus.forge(forgedEvent(chance, setting.targets, scheduler.nowMs())),
    cutNetwork: net.cut,
    cutRoute: setting.hasRoutes ? net.cutRoute : undefined,
    lieAbout: setting.turnsLate ? net.lie : undefined,
    whenProbing: probeWatch({ scheduler, chance: chance.fork('probe watch'), net }),
    changeLayout: () => {
      const { cpu, sockets, memory } = setting.capacity;
      const factor = chance.pick(setting.capacityFactors);
      wanted.capacity = { cpu: cpu * factor, sockets: sockets * factor, memory };
    },
    changeRelease(brokenMs) {
      if (wanted.isBroken) return false;
      const before = wanted.release;
      releases += 1;
      wanted.release = `r${releases}`;
      wanted.isBroken = setting.functions && releaseChance.happens(brokenPart);
      if (wanted.isBroken) scheduler.after(brokenMs, { label: 'release is taken back', deliver: () => goBack(before) });
      replaceWorkers();
      return wanted.isBroken;
    },
  });
  return {
    scheduler,
    profile,
    table: tab,
    bus,
    queue,
    network: net,
    faults,
    crashPoints: points,
    population: people,
    client,
    calls: admission.counts,
    problems,
    onRun: (listener) => void onRun.push(listener),
    onWoken: (listener) => void onWoken.push(listener),
  };
}

type Own = {
  readonly storePorts: Parameters<typeof storeOf>[0];
  readonly bus: SimBus;
  readonly queue: SimQueue;
  readonly net: Network;
  readonly scheduler: Scheduler;
  readonly wanted: Wanted;
  readonly setting: Setting;
  readonly watchStore?: WatchStore;
};

/** The store as this process sees it; where computing takes time, its calls cost CPU. */
function processStore(
  { storePorts, setting, watchStore = (store) => store }: Own,
  { caller, life }: Pick<Env, 'caller' | 'life'>,
  writer: string,
): Store {
  const store = watchStore(storeOf(storePorts, caller, writer), life.role);
  return setting.cpu ? costlyStore(pooledStore(store, caller), life) : store;
}

/** The ports that every process has; its writes and events are attributed to `writer`. */
function commonPorts(own: Own, env: Env, writer = env.life.name) {
  const { caller, clock, random, log } = env;
  const store = patientStore(processStore(own, env, writer), { clock, random });
  return { clock, random, log, store, bus: own.bus.of(caller, writer) };
}

/** Calls `act` at a moment at which a process has a probe in flight. */
function probeWatch({ scheduler, chance, net }: Pick<Own, 'scheduler' | 'net'> & { readonly chance: Chance }) {
  const armed = new Map<string, () => void>();
  net.onStarted(({ prober }) => {
    const name = prober.slice(0, prober.indexOf('.'));
    const act = armed.get(name);
    armed.delete(name);
    // Before the request leaves, or before its answer is there.
    if (act) scheduler.after(chance.between(0, 3), { label: 'while a probe is in flight', deliver: act });
  });
  return (processName: string, act: () => void) => void armed.set(processName, act);
}

/** Processes that poll for shards. Returns a function that replaces them one after the other. */
function workers(
  own: Own,
  people: Population,
  { chance, notifyRun }: { readonly chance: Chance; readonly notifyRun: (run: StartedRun) => void },
): () => void {
  const stops = new Map<Life, AbortController>();
  for (let number = 1; number <= own.setting.workers; number += 1)
    people.start('worker', number, (env) => worker(own, env, { stops, onRun: notifyRun }));
  return () => {
    for (const [life, stop] of stops) {
      const deliver = () => stop.abort();
      if (!life.alive) stops.delete(life);
      else own.scheduler.after(chance.between(0, 180_000), { label: 'worker is stopped', life, deliver });
    }
  };
}

const noMetrics: ProbeMetrics = { observe: () => undefined, remove: () => undefined };

type Polling = { readonly stops: Map<Life, AbortController>; readonly onRun: (run: StartedRun) => void };

async function worker(own: Own, env: Env, { stops, onRun }: Polling): Promise<'ends'> {
  const { queue, net, scheduler, wanted, setting } = own;
  const { caller, clock, log, life } = env;
  const memory: ShardMemory = new Map();
  const socketBudget = newSocketBudget(clock);
  const { release } = wanted;
  const stop = new AbortController();
  stops.set(life, stop);
  let runs = 0;
  /** Whether the message of the next ports is a rescue. */
  let isRescue = false;
  const portsFor = (lease: Lease): Ports => {
    runs += 1;
    const prober = `${life.name}/${runs}`;
    onRun({ timeMs: scheduler.nowMs(), prober, life, isRescue });
    return {
      ...commonPorts(own, env, prober),
      fencedStore: processStore(own, env, prober),
      lease,
      dial: net.dialOf(caller),
      resolve: net.resolveOf(caller),
      canaries: [canary],
      ...net.probersOf(caller, prober),
      metrics: noMetrics,
    };
  };
  await hostShards({
    clock,
    log,
    portsFor,
    runShard: runReceived,
    optionsFor: ({ kind }) => {
      isRescue = kind === 'rescue';
      return { memory, release, socketBudget };
    },
    stop: stop.signal,
    receiver: queue.of(caller),
    concurrency: setting.shardsPerWorker,
  });
  return 'ends';
}

type Deploying = {
  readonly own: Own;
  readonly people: Population;
  readonly chance: Chance;
  readonly onProblem: (what: string) => void;
};

const killerOf = (people: Population) => (life: Life) =>
  people.processes.find((process) => process.life() === life)?.crash(killedMs);

/** The prober as deployed. Returns a function that replaces its containers. */
function deployedWorkers({ own, people, chance, onProblem }: Deploying, onRun: (run: StartedRun) => void): () => void {
  const { scheduler, setting, queue } = own;
  const life: Life = { name: 'lambda.1', role: 'lambda', alive: true, pausedUntilMs: 0, timersFirst: true, skewMs: 0 };
  const poller = callerOf(scheduler, life, () => undefined);
  const timeoutMs = proberTimeoutMs;
  const isBroken = () => own.wanted.isBroken;
  const options = { scheduler, chance, timeoutMs, kill: killerOf(people), onProblem, isBroken };
  const prober = simFunction<ProberAnswer>(options);
  const mapping = proberMapping({ scheduler, poller, queue, prober, concurrency: setting.workers });
  for (let number = 1; number <= setting.workers; number += 1)
    people.start('worker', number, async (env) => {
      if (isBroken()) return 'ends';
      prober.serve(env.life, proberContainer(own, env, { mapping, onRun }));
      return 'serves';
    });
  return prober.replaceAll;
}

type Mapped = { readonly mapping: ProberMapping; readonly onRun: (run: StartedRun) => void };

/** A container has one run at a time: its writes and events belong to the latest run. */
function proberContainer(own: Own, env: Env, { mapping, onRun }: Mapped) {
  const { net, scheduler, wanted } = own;
  const { caller, life } = env;
  const common = functionPorts(own, env);
  let runs = 0;
  let isRescue = false;
  let writer = life.name;
  let { bus } = common;
  /** Writes as the present run; each run has its own sockets. */
  const newStore = (): Store => {
    const stores = new Map<string, Store>();
    const present = (): Store => {
      const store = stores.get(writer) ?? processStore(own, env, writer);
      stores.clear();
      stores.set(writer, store);
      return store;
    };
    return {
      get: (key, options) => present().get(key, options),
      query: (query) => present().query(query),
      write: (operations, options) => present().write(operations, options),
    };
  };
  const beginRun = () => {
    runs += 1;
    const prober = `${life.name}/${runs}`;
    onRun({ timeMs: scheduler.nowMs(), prober, life, isRescue });
    writer = prober;
    bus = own.bus.of(caller, prober);
    return { ...net.diallingOf(caller, prober), ...(life.loop && { cpuMs: life.loop.usedMs }) };
  };
  const answer = proberFunction({
    ...common,
    store: patientStore(newStore(), env),
    newStore,
    bus: { publish: (events) => bus.publish(events) },
    queue: { client: mapping.clientOf(caller), queueUrl: 'http://queue.test/' },
    policy: () => true,
    canaries: own.setting.hasRoutes ? [canary, publicCanary] : [canary],
    release: wanted.release,
    outside: () => ({
      run: async () => ({ kind: 'denied', message: 'nothing is run' }),
      secrets: noSecrets,
    }),
    execReach: 'network',
    runProbing: beginRun,
  });
  /** The mapping hands over one message at a time. */
  return (event: unknown, context: InvocationContext) => {
    const { Records: records } = event as { readonly Records: readonly { readonly body: string }[] };
    isRescue = records.some(({ body }) => JSON.parse(body).kind === 'rescue');
    return answer(event, context);
  };
}

/** status-sync as deployed. */
function deployedSyncers({ own, people, chance, onProblem }: Deploying): (event: BusEvent) => void {
  const { scheduler, setting } = own;
  const kill = killerOf(people);
  const statusSync = simFunction<StatusSyncAnswer>({ scheduler, chance, timeoutMs: syncTimeoutMs, kill, onProblem });
  for (let number = 1; number <= setting.syncs; number += 1)
    people.start('sync', number, async (env) => {
      statusSync.serve(env.life, statusSyncFunction(functionPorts(own, env)));
      return 'serves';
    });
  return statusSyncQueue({ scheduler, chance, statusSync }).deliver;
}

function functionPorts(own: Own, env: Env): FunctionPorts {
  const metrics = { emit: () => undefined, onCall: () => undefined, onDenied: () => undefined };
  return { ...commonPorts(own, env), log: { ...env.log, begin: () => undefined }, metrics };
}

/** status-sync in processes of a machine: each event goes to one of them, and to one again if not acknowledged. */
function syncers({ own, people, chance }: Deploying): (event: BusEvent) => void {
  const { scheduler, setting } = own;
  const handlers = new Map<Life, (event: BusEvent) => Promise<void>>();
  for (let number = 1; number <= setting.syncs; number += 1)
    people.start('sync', number, async (env) => {
      for (const other of handlers.keys()) if (!other.alive) handlers.delete(other);
      const ports = commonPorts(own, env);
      handlers.set(env.life, async ({ detail }) => {
        if ('target' in detail) await syncTarget(ports, detail.target);
      });
      return 'serves';
    });

  const deliver = (event: BusEvent, delivery = 1): void => {
    if (event.detailType !== 'Probe Result Changed' && event.detailType !== 'Target Sync Requested') return;
    if (delivery > deliveriesMax) return;
    const again = () => deliver(event, delivery + 1);
    const cancel = scheduler.after(redeliveryMs, { label: `again ${event.detail.id}`, deliver: again });
    const alive = [...handlers.keys()].filter((life) => life.alive);
    const life = alive.length > 0 ? chance.pick(alive) : undefined;
    const handle = life && handlers.get(life);
    if (!life || !handle) return;
    const deliverNow = () => void handle(event).then(cancel, () => undefined);
    scheduler.after(0, { label: `sync ${event.detail.id}`, life, deliver: deliverNow });
  };
  return deliver;
}

function logOf(scheduler: Scheduler, life: Life, problems: string[]): Log {
  const line = (level: string) => (message: string, fields?: LogFields) => {
    const { cause = fields?.error, error: _, ...rest } = fields ?? {};
    const text = cause instanceof Error ? `${cause.name}: ${cause.message}` : '';
    const told = `${scheduler.nowMs()} ${life.name} ${level}: ${message} ${JSON.stringify(rest)} ${text}`;
    scheduler.trace(told);
    if (level === 'error') problems.push(cause instanceof Error ? `${told}\n${cause.stack}` : told);
  };
  return { info: () => undefined, warn: line('warn'), error: line('error') };
}
