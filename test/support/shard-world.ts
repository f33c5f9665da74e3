/**
 * Runs of one shard over a store in memory under a virtual clock: everything of the product but the sockets, which a script stands for.
 * A run can be stopped, or crash: then nothing it does reaches the world any more.
 */
import { apiApp } from '../../shared/api/app.ts';
import type { Bus } from '../../shared/bus/bus.ts';
import type { EventEnvelope } from '../../shared/bus/envelope.ts';
import { inProcessBus } from '../../shared/bus/in-process.ts';
import type { ProbeRequest } from '../../shared/core/handlers.ts';
import { functionCapacity } from '../../shared/core/layout.ts';
import type { ProbeRecord, StatusRecord } from '../../shared/core/records.ts';
import type { TargetSpecInput } from '../../shared/core/spec-input.ts';
import type { Attempt } from '../../shared/core/types.ts';
import type { Clock } from '../../shared/lib/clock.ts';
import type { ProbeMetricLabels } from '../../shared/prober/metrics.ts';
import type { Probers } from '../../shared/prober/prober.ts';
import type { ShardMessage } from '../../shared/queue/queue.ts';
import type { Ports } from '../../shared/run/ports.ts';
import { type RunEnd, startRun } from '../../shared/run/run.ts';
import { type RunView, runShard } from '../../shared/run/run-shard.ts';
import { syncTarget } from '../../shared/status-sync/sync.ts';
import { decodeProbe, decodeStatus } from '../../shared/store/items.ts';
import { prefixEnd, statusKey, targetAddress } from '../../shared/store/keys.ts';
import { sqliteStore } from '../../shared/store/sqlite.ts';
import type { Item, Store } from '../../shared/store/store.ts';
import { currentLayout } from './current-layout.ts';
import { recordingLog } from './recording-log.ts';
import { seededRandom } from './seeded-random.ts';
import { virtualClock } from './virtual-clock.ts';

export type ShardRun = {
  readonly ended: Promise<RunEnd>;
  view(): RunView | undefined;
  stop(): Promise<RunEnd>;
  /** Nothing of the run is heard of again. */
  crash(): void;
};

type Answer = 'success' | 'failure' | Attempt;
type Script = (request: ProbeRequest) => Answer | Promise<Answer>;

const shard = '00';
const generation = 1;
const slotMs = 780_000;

export function shardWorld({ wrapStore = (store: Store) => store } = {}) {
  const clock = virtualClock();
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
    { concurrency: 4 },
  );
  const app = apiApp({ store, bus, clock, random, log, health: () => ({ ok: true, quarantined: [] }) });
  let script: Script = () => 'success';
  const removedSeries: ProbeMetricLabels[] = [];
  let probes = 0;
  const prober = async (request: ProbeRequest): Promise<Attempt> => {
    probes += 1;
    const answer = await script(request);
    return typeof answer === 'string' ? { outcome: answer, output: answer, timings: { totalMs: 1 } } : answer;
  };
  const probers: Probers = { http: prober, tcp: prober, grpc: prober, exec: prober };

  const request = async (method: string, path: string, body?: unknown): Promise<Response> => {
    const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json';
    const init = body === undefined ? {} : { body: JSON.stringify(body), headers: { 'content-type': type } };
    const response = await app.fetch(new Request(`http://probelet.test${path}`, { method, ...init }));
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
    return response;
  };
  const pathOf = (name: string) => `/v1/namespaces/default/targets/${name}`;
  const itemsOf = (name: string): Promise<readonly Item[]> => {
    const { pk, prefix } = targetAddress('default', name);
    return store.query({ pk, from: prefix, to: prefix + prefixEnd });
  };
  const message = (): ShardMessage => {
    const slot = Math.floor(clock.nowMs() / slotMs);
    return {
      kind: 'slot',
      shard,
      generation,
      buckets: { from: 0, to: 256 },
      slot,
      slotEndMs: (slot + 1) * slotMs,
      sentAtMs: clock.nowMs(),
    };
  };
  const ports = (of: { readonly alive: () => boolean }): Ports => ({
    clock: mortalClock(clock, of.alive),
    random,
    log,
    store: mortalStore(store, of.alive),
    bus: mortalBus(bus, of.alive),
    lease: { extend: () => Promise.resolve(true) },
    dial: () => Promise.reject(new Error('not dialed')),
    resolve: () => Promise.reject(new Error('not resolved')),
    canaries: [],
    abandon: () => {},
    probers,
    metrics: { observe: () => {}, remove: (labels) => void removedSeries.push(labels) },
  });

  return {
    clock,
    store,
    log,
    published,
    removedSeries,
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
    report: (name: string, status: unknown) => request('PUT', `${pathOf(name)}/status`, { status }),
    /** Reports that the target's only container was restarted. */
    restarted: (name: string) => request('POST', `${pathOf(name)}/restarted`, {}),
    remove: (name: string, graceSeconds: number) =>
      request('DELETE', `${pathOf(name)}?gracePeriodSeconds=${graceSeconds}`),
    trigger: (name: string) => request('POST', `${pathOf(name)}/probe`),
    async probe(name: string, probeName: string): Promise<ProbeRecord> {
      const item = (await itemsOf(name)).find(({ sk }) => sk.endsWith(`#PROBE#${probeName}`));
      const decoded = item && decodeProbe(item);
      if (decoded?.kind !== 'ok') throw new Error(`no PROBE item ${probeName}: ${JSON.stringify(decoded)}`);
      return decoded.record;
    },
    async status(name: string): Promise<StatusRecord> {
      const item = await store.get(statusKey(targetAddress('default', name)));
      const decoded = item && decodeStatus(item);
      if (decoded?.kind !== 'ok') throw new Error('no STATUS item');
      return decoded.record;
    },
    bus,
    random,
    /** Of a run that the test begins itself. */
    ports: () => ports({ alive: () => true }),
    request,
    /** Of a run that nobody hosts, for parts of the holder on their own. */
    bareRun: (token: number) =>
      startRun({
        ports: ports({ alive: () => true }),
        message: message(),
        token,
        layoutVersion: 0,
        startedAtMs: clock.monotonicMs(),
        release: '',
        aheadMs: 0,
      }),
    async run(more: Partial<ShardMessage> = {}, otherPorts: Partial<Ports> = {}): Promise<ShardRun> {
      let alive = true;
      let view: (() => RunView) | undefined;
      const stop = new AbortController();
      await currentLayout(
        { store, clock, random, log },
        { capacity: functionCapacity, mode: 'resident', desiredRelease: '' },
      );
      const given = { ...message(), ...more };
      const onLoaded = (look: () => RunView) => {
        view = look;
      };
      const own = { ...ports({ alive: () => alive }), ...otherPorts };
      const ended = runShard(own, given, given.slotEndMs, { stop: stop.signal, onLoaded });
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
    },
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

export type ShardWorld = ReturnType<typeof shardWorld>;

const never = <Answer>(): Promise<Answer> => new Promise(() => {});

function mortalClock(clock: Clock, alive: () => boolean): Clock {
  return {
    ...clock,
    setTimer: (delayMs, callback) =>
      clock.setTimer(delayMs, () => {
        if (alive()) callback();
      }),
  };
}

function mortalStore(store: Store, alive: () => boolean): Store {
  return {
    get: (key, options) => (alive() ? store.get(key, options) : never()),
    query: (query) => (alive() ? store.query(query) : never()),
    write: (operations, options) => (alive() ? store.write(operations, options) : never()),
  };
}

const mortalBus = (bus: Bus, alive: () => boolean): Bus => ({
  publish: (events) => (alive() ? bus.publish(events) : never()),
});
