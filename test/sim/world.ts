/** One simulated world: every process of the product on one table, one queue, one bus and one network, all of one seed. */

import type { ApiApp } from '../../shared/api/app.ts';
import { apiApp } from '../../shared/api/app.ts';
import type { BusEvent } from '../../shared/bus/events.ts';
import type { Log, LogFields } from '../../shared/lib/log.ts';
import { hostShards } from '../../shared/manager/host.ts';
import type { Ports } from '../../shared/manager/ports.ts';
import { runReceived } from '../../shared/manager/receipt.ts';
import type { ShardMemory } from '../../shared/manager/run-shard.ts';
import { syncTarget } from '../../shared/manager/status-sync.ts';
import type { ProbeMetrics } from '../../shared/prober/metrics.ts';
import type { Lease } from '../../shared/queue/queue.ts';
import { type SimBus, simBus } from './bus.ts';
import { type Chance, chanceOf } from './chance.ts';
import { type Client, clientOf } from './client.ts';
import { type Life, type Scheduler, startScheduler } from './clock.ts';
import { type CrashPoints, crashPoints } from './crash-points.ts';
import { type Faults, type Profile, planFaults } from './faults.ts';
import { forgedEvent } from './forgery.ts';
import { canary, type Network, network } from './network.ts';
import { operate } from './operator.ts';
import { type Env, type Population, population } from './process.ts';
import { type SimQueue, simQueue } from './queue.ts';
import { type Schedules, type Wanted, wakeSchedules } from './schedule.ts';
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
  /** What was logged as an error, and what a process died of that nobody killed. */
  readonly troubles: readonly string[];
  /** A run of this prober began, with this message's shard. */
  onRun(listener: (run: StartedRun) => void): void;
};

export type StartedRun = { readonly timeMs: number; readonly prober: string; readonly life: Life };

export type WorldOptions = {
  readonly seed: number;
  readonly profile: Profile;
  /** Sees every line of the trace. */
  readonly onLine?: (line: string) => void;
};

/** Room for twice the shards that there ever are: a fleet has room. */
const workers = 4;
const shardsPerWorker = 3;
/** All targets together have some 2.5 probes in flight while none is answered: two shards or three, one to four with layouts that change. */
const socketsPerShard = 2.8;
/** A delivery that was not acknowledged comes again. */
const redeliveryMs = 20_000;
const deliveriesMax = 5;

export function buildWorld({ seed, profile, onLine }: WorldOptions): World {
  const chance = chanceOf(seed);
  const scheduler = startScheduler(chance.fork('order'), onLine);
  const troubles: string[] = [];
  const onRun: ((run: StartedRun) => void)[] = [];
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
    log: (life) => logOf(scheduler, life, troubles),
    onTrouble: (life, cause) => troubles.push(`${life.name}: ${String(cause)}`),
  });
  const storePorts = { table: tab, scheduler, chance: chance.fork('store'), faults: faults.store };
  const wanted: Wanted = { release: 'r1', capacity: { cpu: 1, sockets: socketsPerShard } };
  const stops = new Map<Life, AbortController>();
  const own = { storePorts, bus, queue, net, scheduler, wanted, stops };

  for (let number = 1; number <= workers; number += 1)
    people.start('worker', number, (env) => worker(own, env, (run) => void onRun.map((listener) => listener(run))));
  const schedules: Schedules = new Map();
  for (let number = 1; number <= 2; number += 1)
    people.start('schedule', number, async ({ caller, clock, random, log, life }) => {
      const store = storeOf(storePorts, caller, life.name);
      schedules.set(life, { store, queue: queue.of(caller), bus: bus.of(caller, life.name), clock, random, log });
      return 'serves';
    });
  wakeSchedules({ scheduler, chance: chance.fork('ticks'), schedules, wanted, ticks: faults.ticks });
  const syncs = syncers(own, people, chance.fork('deliveries'));
  bus.subscribe(syncs.deliver);
  const apps = new Map<Life, ApiApp>();
  for (let number = 1; number <= 2; number += 1)
    people.start('api', number, async (env) => {
      for (const life of apps.keys()) if (!life.alive) apps.delete(life);
      apps.set(env.life, api(own, env));
      return 'serves';
    });
  const client = clientOf(scheduler, chance.fork('client'), apps);
  const operator = operate({ scheduler, chance: chance.fork('operator'), client, network: net, isCalm: faults.isCalm });
  bus.subscribe(operator.hear);
  faults.start({
    population: people,
    crashPoints: points,
    duplicateMessage: queue.duplicate,
    forgeEvent: () => bus.forge(forgedEvent(chance, scheduler.nowMs())),
    cutNetwork: net.cut,
    whenProbing: probeWatch({ scheduler, chance: chance.fork('probe watch'), net }),
    changeLayout: () => {
      wanted.capacity = { cpu: 1, sockets: socketsPerShard * chance.pick([0.6, 1, 1, 1.5, 4]) };
    },
    changeRelease: () => deploy({ scheduler, chance, wanted, stops }),
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
    troubles,
    onRun: (listener) => void onRun.push(listener),
  };
}

type Own = {
  readonly storePorts: Parameters<typeof storeOf>[0];
  readonly bus: SimBus;
  readonly queue: SimQueue;
  readonly net: Network;
  readonly scheduler: Scheduler;
  readonly wanted: Wanted;
  readonly stops: Map<Life, AbortController>;
};

/** Lets something happen in a moment in which a process has a probe in flight. */
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

/** Another release is wanted, and the workers are replaced one after the other. */
function deploy({
  scheduler,
  chance,
  wanted,
  stops,
}: Pick<Own, 'scheduler' | 'wanted' | 'stops'> & { readonly chance: Chance }): void {
  wanted.release = `r${Number(wanted.release.slice(1)) + 1}`;
  for (const [life, stop] of stops) {
    if (!life.alive) stops.delete(life);
    else scheduler.after(chance.between(0, 180_000), { label: 'worker is stopped', life, deliver: () => stop.abort() });
  }
}

const noMetrics: ProbeMetrics = { observe: () => undefined, remove: () => undefined };

async function worker(own: Own, env: Env, onRun: (run: StartedRun) => void): Promise<'ends'> {
  const { storePorts, bus, queue, net, scheduler, wanted, stops } = own;
  const { caller, clock, log, random, life } = env;
  const memory: ShardMemory = new Map();
  const { release } = wanted;
  const stop = new AbortController();
  stops.set(life, stop);
  let runs = 0;
  const portsFor = (lease: Lease): Ports => {
    runs += 1;
    const prober = `${life.name}/${runs}`;
    onRun({ timeMs: scheduler.nowMs(), prober, life });
    return {
      clock,
      random,
      log,
      lease,
      store: storeOf(storePorts, caller, prober),
      bus: bus.of(caller, prober),
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
    optionsFor: () => ({ memory, release }),
    stop: stop.signal,
    receiver: queue.of(caller),
    concurrency: shardsPerWorker,
  });
  return 'ends';
}

function api({ storePorts, bus }: Own, { caller, clock, random, log, life }: Env): ApiApp {
  const store = storeOf(storePorts, caller, life.name);
  return apiApp({
    store,
    bus: bus.of(caller, life.name),
    clock,
    random,
    log,
    health: () => ({ ok: true, quarantined: [] }),
  });
}

/** status-sync: an event goes to one of its processes, and again to one when it was not acknowledged in time. */
function syncers({ storePorts, bus, scheduler }: Own, people: Population, chance: Chance) {
  const handlers = new Map<Life, (event: BusEvent) => Promise<void>>();
  for (let number = 1; number <= 2; number += 1)
    people.start('sync', number, async ({ caller, clock, random, log, life }) => {
      for (const other of handlers.keys()) if (!other.alive) handlers.delete(other);
      const ports = {
        store: storeOf(storePorts, caller, life.name),
        bus: bus.of(caller, life.name),
        clock,
        random,
        log,
      };
      handlers.set(life, async ({ detail }) => {
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
  return { deliver: (event: BusEvent) => deliver(event) };
}

function logOf(scheduler: Scheduler, life: Life, troubles: string[]): Log {
  const line = (level: string) => (message: string, fields?: LogFields) => {
    const { cause = fields?.error, error: _, ...rest } = fields ?? {};
    const text = cause instanceof Error ? `${cause.name}: ${cause.message}` : '';
    const told = `${scheduler.nowMs()} ${life.name} ${level}: ${message} ${JSON.stringify(rest)} ${text}`;
    scheduler.trace(told);
    if (level === 'error') troubles.push(cause instanceof Error ? `${told}\n${cause.stack}` : told);
  };
  return { info: () => undefined, warn: line('warn'), error: line('error') };
}
