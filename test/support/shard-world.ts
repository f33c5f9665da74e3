/**
 * The simulated world of the tests: runs of one shard over a store in memory under a virtual clock. It is everything of
 * the product but the sockets, which a script stands for. A run can be stopped, or crash: then nothing it does reaches
 * the world any more.
 */

import { apiApp } from '../../shared/api/app.ts';
import type { TargetView } from '../../shared/api/schema/target-schema.ts';
import type { Bus, EventEnvelope } from '../../shared/bus/bus.ts';
import type { BusEvent, DetailType, EventDetail } from '../../shared/bus/events.ts';
import { inProcessBus } from '../../shared/bus/in-process.ts';
import { unlimitedCapacity } from '../../shared/core/shards/layout.ts';
import { slotAt } from '../../shared/core/shards/slots.ts';
import type { ProbeRequest } from '../../shared/core/spec/handlers.ts';
import type { EventRecord, ProbeRecord, StatusRecord } from '../../shared/core/spec/records.ts';
import type { TargetSpecInput } from '../../shared/core/spec/spec-input.ts';
import type { Attempt } from '../../shared/core/spec/types.ts';
import { type CheckpointEntries, storedCheckpoint } from '../../shared/holder/checkpoint.ts';
import type { SocketBudget } from '../../shared/holder/probing/sockets.ts';
import { type Ports, type RunEnd, startRun } from '../../shared/holder/run.ts';
import { type RunOptions, type RunView, runShard, type ShardMemory } from '../../shared/holder/shard-run.ts';
import { type Clock, endingClock, sleep } from '../../shared/lib/clock.ts';
import type { ProbeMetricLabels } from '../../shared/prober/metrics.ts';
import type { ShardMessage } from '../../shared/queue/queue.ts';
import { syncTarget } from '../../shared/status-sync/sync.ts';
import { type Decoded, decodeEvent, decodeProbe, decodeRun, decodeStatus } from '../../shared/store/records/items.ts';
import { bucketPk, eventPrefix, prefixEnd, runKey, statusKey, targetAddress } from '../../shared/store/records/keys.ts';
import type { RunRecord } from '../../shared/store/records/shard-records.ts';
import { sqliteStore } from '../../shared/store/sqlite/sqlite.ts';
import type { Item, Store } from '../../shared/store/store.ts';
import { currentLayout } from './current-layout.ts';
import { mortalBus, mortalClock, mortalStore } from './mortal-ports.ts';
import { recordingLog } from './recording-log.ts';
import { seededRandom } from './seeded-random.ts';
import { shardMessage } from './shard-messages.ts';
import { testsIn } from './tests-in.ts';
import { virtualClock } from './virtual-clock.ts';

export type ShardRun = {
  readonly ended: Promise<RunEnd>;
  view(): RunView | undefined;
  stop(): Promise<RunEnd>;
  /** Nothing of the run is heard of again. */
  crash(): void;
};

/** An answer that takes its time. */
export type TimedAnswer = { readonly outcome: 'success' | 'failure'; readonly ms: number };

type Answer = 'success' | 'failure' | TimedAnswer | Attempt;
/** `port`: 0 of a request that names none. */
type Script = (request: ProbeRequest, port: number) => Answer | Promise<Answer>;

export const healthy: TimedAnswer = { outcome: 'success', ms: 5 };
export const failing: TimedAnswer = { outcome: 'failure', ms: 5 };

export type WorldOptions = {
  readonly startMs?: number;
  readonly wrapStore?: (store: Store) => Store;
  /** The prober looks at a canary before a failure counts. */
  readonly hasCanary?: boolean;
  readonly socketBudget?: SocketBudget;
  /** The API and the runs share a process, as in `npm start`. */
  readonly oneProcess?: boolean;
};

type RunningReport = { readonly container?: string; readonly phase?: string; readonly conditions?: readonly object[] };

/** `cold`: by a process that remembers nothing. */
type Holding = { readonly cold?: boolean; readonly message?: Partial<ShardMessage> };

type CheckpointEntry = CheckpointEntries[string];

const canary = { host: '10.255.0.1', port: 443 };
const shard = '00';
const longSlotMs = 3_600_000;
const layoutOptions = {
  capacity: unlimitedCapacity,
  mode: 'resident',
  desiredRelease: '',
  runOf: () => undefined,
} as const;

export function shardWorld({
  startMs,
  wrapStore = (store) => store,
  hasCanary = false,
  socketBudget,
  oneProcess = false,
}: WorldOptions = {}) {
  const clock = virtualClock(startMs === undefined ? {} : { startMs });
  const random = seededRandom(1);
  const log = recordingLog();
  const store = wrapStore(sqliteStore({ path: ':memory:' }));
  const bus = inProcessBus({ clock, random, log });
  const published: EventEnvelope[] = [];
  bus.subscribe({ source: ['probelet'] }, (event) => void published.push(event));
  const syncPorts = { store, bus, clock, random, log };
  let syncing = true;
  bus.subscribe(
    { 'detail-type': ['Probe Result Changed', 'Target Sync Requested'] },
    async ({ detail }) => {
      if (syncing && 'target' in detail) await syncTarget(syncPorts, detail.target);
    },
    { concurrency: 8 },
  );
  let lastView: (() => RunView) | undefined;
  const app = apiApp({
    store,
    bus,
    clock,
    random,
    log,
    health: () => ({ ok: true, quarantined: [] }),
    ...(oneProcess && { onTerminating: async (address) => lastView?.().reread(address) }),
  });
  let script: Script = () => 'success';
  const removedSeries: ProbeMetricLabels[] = [];
  let probes = 0;
  /** `isCut`: nothing answers. `isDoubted`: the canary alone is silent. */
  const network = { isCut: false, isDoubted: false };
  /** `refuses`: the bus takes none of these. */
  const faults = { refuses: (_: BusEvent): boolean => false };

  const request = async (method: string, path: string, body?: unknown): Promise<Response> => {
    const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json';
    const init = body === undefined ? {} : { body: JSON.stringify(body), headers: { 'content-type': type } };
    const response = await app.fetch(new Request(`http://probelet.test${path}`, { method, ...init }));
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
    return response;
  };
  const pathOf = (name: string) => `/v1/namespaces/default/targets/${name}`;
  const report = (name: string, status: unknown) => request('PUT', `${pathOf(name)}/status`, { status });
  const itemsOf = (name: string): Promise<readonly Item[]> => {
    const { pk, prefix } = targetAddress('default', name);
    return store.query({ pk, from: prefix, to: prefix + prefixEnd });
  };
  const message = (): ShardMessage =>
    shardMessage({ slot: slotAt({ from: 0, mode: 'resident' }, clock.nowMs()).slot, sentAtMs: clock.nowMs() });
  const ports = (alive: () => boolean): Ports => {
    const own = endingClock(mortalClock(clock, alive));
    const prober = async (asked: ProbeRequest): Promise<Attempt> => {
      probes += 1;
      if (network.isCut) return timedAttempt(own, { outcome: 'failure', ms: asked.timeoutMs });
      const answer = await script(asked, 'port' in asked ? asked.port : 0);
      if (typeof answer === 'string') return { outcome: answer, output: answer, timings: { totalMs: 1 } };
      return 'ms' in answer ? timedAttempt(own, answer) : answer;
    };
    return {
      clock: mortalClock(clock, alive),
      random,
      log,
      store: mortalStore(store, alive),
      bus: mortalBus(refusingBus(bus, faults), alive),
      lease: { extend: () => Promise.resolve(true) },
      async dial() {
        const isSilent = network.isCut || network.isDoubted;
        await sleep(own, isSilent ? 900 : 1);
        const failureClass = isSilent ? 'CONNECT_TIMEOUT' : 'CONNECT_REFUSED';
        return { kind: 'failed', failureClass, message: failureClass };
      },
      resolve: async (host) => ({ kind: 'resolved', addresses: [host] }),
      canaries: hasCanary ? [canary] : [],
      abandon: own.end,
      probers: { http: prober, tcp: prober, grpc: prober, exec: prober },
      metrics: { observe: () => {}, remove: (labels) => void removedSeries.push(labels) },
    };
  };
  const always = () => true;

  /** The layout of one resident shard, as a schedule has left it before the first run. */
  let laidOut: Promise<unknown> | undefined;
  const memory: ShardMemory = new Map();
  let slot = 0;
  const run = async (
    more: Partial<ShardMessage> = {},
    otherPorts: Partial<Ports> = {},
    options: RunOptions = {},
  ): Promise<ShardRun> => {
    let alive = true;
    let view: (() => RunView) | undefined;
    const stop = new AbortController();
    laidOut ??= currentLayout(syncPorts, layoutOptions);
    await laidOut;
    const given = { ...message(), ...more };
    const onLoaded = (look: () => RunView) => {
      view = look;
      lastView = look;
    };
    const own = { ...ports(() => alive), ...otherPorts };
    const runOptions = { stop: stop.signal, onLoaded, ...(socketBudget && { socketBudget }), ...options };
    const ended = runShard(own, given, given.slotEndMs, runOptions);
    await clock.advance(0);
    return {
      ended,
      view: () => view?.(),
      stop() {
        stop.abort();
        return clock.runUntil(ended);
      },
      crash() {
        alive = false;
      },
    };
  };

  return {
    ...syncPorts,
    published,
    /** The details of the events of one kind. */
    publishedEvents: <Type extends DetailType>(type: Type) =>
      published
        .filter((event) => event['detail-type'] === type)
        .map(({ detail }) => detail as unknown as EventDetail<Type>),
    removedSeries,
    network,
    faults,
    message,
    itemsOf,
    probes: () => probes,
    answer: (next: Script) => {
      script = next;
    },
    /** Whether status-sync listens to the bus. */
    sync: (on: boolean) => {
      syncing = on;
    },
    put: (name: string, spec: TargetSpecInput) =>
      request('PUT', pathOf(name), { spec: { host: '127.0.0.1', ...spec } }),
    report,
    /** Reports that the target's only container runs under this ID from now on. */
    reportRunning(name: string, containerID: string, { container = 'app', ...more }: RunningReport = {}) {
      const state = { running: { startedAt: new Date(clock.nowMs()).toISOString() } };
      return report(name, { phase: 'Running', containerStatuses: [{ name: container, containerID, state }], ...more });
    },
    /** Reports that the target's only container was restarted. */
    restarted: (name: string) => request('POST', `${pathOf(name)}/restarted`, {}),
    remove: (name: string, graceSeconds: number) =>
      request('DELETE', `${pathOf(name)}?gracePeriodSeconds=${graceSeconds}`),
    trigger: (name: string) => request('POST', `${pathOf(name)}/probe`),
    /** The status as the API shows it. */
    shown: async (name: string) => ((await (await request('GET', pathOf(name))).json()) as TargetView).status,
    probe: async (name: string, probeName: string): Promise<ProbeRecord> =>
      recordOf(
        decodeProbe,
        (await itemsOf(name)).find(({ sk }) => sk.endsWith(`#PROBE#${probeName}`)),
      ),
    status: async (name: string): Promise<StatusRecord> =>
      recordOf(decodeStatus, await store.get(statusKey(targetAddress('default', name)))),
    runRecord: async (name = shard): Promise<RunRecord> => recordOf(decodeRun, await store.get(runKey(name))),
    /** Of the bucket of the target. */
    async checkpoint(name: string): Promise<readonly CheckpointEntry[]> {
      const { bucket } = targetAddress('default', name);
      return Object.values(storedCheckpoint(await store.query({ pk: bucketPk(bucket) })).entries);
    },
    /** The events of the target, oldest first. */
    async history(name: string): Promise<readonly EventRecord[]> {
      const address = targetAddress('default', name);
      const from = eventPrefix(address);
      const items = await store.query({ pk: address.eventsPk, from, to: from + prefixEnd });
      return items.map((item) => recordOf(decodeEvent, item));
    },
    /** Of a run that the test begins itself. */
    ports: () => ports(always),
    request,
    /** Of a run without a host, for parts of the holder on their own. */
    bareRun: (token: number) =>
      startRun({
        ports: ports(always),
        message: message(),
        token,
        layoutVersion: 0,
        startedAtMs: clock.monotonicMs(),
        release: '',
        aheadMs: 0,
      }),
    run,
    /** Runs of one hour, each of the next slot, in one process. */
    hold({ cold = false, message: other = {} }: Holding = {}): Promise<ShardRun> {
      slot += 1;
      const slotEndMs = clock.nowMs() + longSlotMs;
      return run({ slot, slotEndMs, ...other }, {}, { memory: cold ? new Map() : memory });
    },
    /** To the end of the slot, so that the next run has a whole one before it. */
    toNextSlot: () => clock.advance(message().slotEndMs - clock.nowMs()),
    /** Moves on second by second until it holds. */
    async until(what: string, holds: () => Promise<boolean> | boolean, secondsMax = 600): Promise<void> {
      for (let second = 0; second < secondsMax; second += 1) {
        if (await holds()) return;
        await clock.advance(1_000);
      }
      throw new Error(`not within ${secondsMax} s: ${what}`);
    },
  };
}

export const inShardWorld = testsIn(() => shardWorld());

/** The world with these targets, held for so long. */
export async function heldWorld(
  targets: { readonly [name: string]: TargetSpecInput },
  heldMs = 0,
  options: WorldOptions = {},
): Promise<{ readonly world: ShardWorld; readonly run: ShardRun }> {
  const world = shardWorld(options);
  for (const [name, spec] of Object.entries(targets)) await world.put(name, spec);
  const run = await world.run();
  await world.clock.advance(heldMs);
  return { world, run };
}

export type ProbedOptions = WorldOptions & { readonly targets: number; readonly probe?: object };

/**
 * The world with targets `target-1`, `target-2` and so on, whose numbers are their ports, and with a canary beside
 * them.
 */
export async function probedWorld({ targets, probe = {}, ...options }: ProbedOptions): Promise<ShardWorld> {
  const world = shardWorld({ hasCanary: true, ...options });
  world.answer(() => healthy);
  for (let port = 1; port <= targets; port += 1) {
    const readinessProbe = { tcpSocket: { port }, periodSeconds: 10, ...probe };
    await world.put(`target-${port}`, { host: '10.0.0.1', readinessProbe });
  }
  return world;
}

export type ShardWorld = ReturnType<typeof shardWorld>;

/** The bus without the events that `faults` refuses. */
const refusingBus = (bus: Bus, faults: { readonly refuses: (event: BusEvent) => boolean }): Bus => ({
  async publish(events, options) {
    const failed = events.flatMap((event, at) => (faults.refuses(event) ? [at] : []));
    if (failed.length === 0) return bus.publish(events, options);
    await bus.publish(
      events.filter((_, at) => !failed.includes(at)),
      options,
    );
    return { failed };
  },
});

async function timedAttempt(clock: Clock, { outcome, ms }: TimedAnswer): Promise<Attempt> {
  await sleep(clock, ms);
  const failureClass = { failureClass: 'CONNECT_TIMEOUT' } as const;
  return { outcome, output: '', ...(outcome === 'failure' && failureClass), timings: { totalMs: ms } };
}

function recordOf<Kind>(decode: (item: Item) => Decoded<Kind>, item: Item | undefined): Kind {
  const decoded = item && decode(item);
  if (decoded?.kind !== 'ok') throw new Error(`no such item: ${JSON.stringify(decoded)}`);
  return decoded.record;
}
