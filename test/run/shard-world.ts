/** A shard of many targets, held by one run after another under a clock that the test moves; what they answer is the test's to say. */
import { apiApp } from '../../shared/api/app.ts';
import type { Bus } from '../../shared/bus/bus.ts';
import type { EventEnvelope } from '../../shared/bus/envelope.ts';
import type { BusEvent } from '../../shared/bus/events.ts';
import { inProcessBus } from '../../shared/bus/in-process.ts';
import type { Attempt, FailureClass } from '../../shared/core/types.ts';
import { endingClock, sleep } from '../../shared/lib/clock.ts';
import type { DialFailure } from '../../shared/net/net.ts';
import type { ShardMessage } from '../../shared/queue/queue.ts';
import type { ShardMemory } from '../../shared/run/memory.ts';
import type { Ports } from '../../shared/run/ports.ts';
import type { Room } from '../../shared/run/probing/sockets.ts';
import { type RunView, runShard } from '../../shared/run/run-shard.ts';
import { syncTarget } from '../../shared/status-sync/sync.ts';
import { decodeRun, type RunRecord } from '../../shared/store/items.ts';
import { runKey } from '../../shared/store/keys.ts';
import { sqliteStore } from '../../shared/store/sqlite.ts';
import type { Store } from '../../shared/store/store.ts';
import { currentLayout } from '../support/current-layout.ts';
import { recordingLog } from '../support/recording-log.ts';
import { seededRandom } from '../support/seeded-random.ts';
import { shardMessage } from '../support/shard-messages.ts';
import { standingClock } from '../support/standing-clock.ts';

export type Answer = { readonly outcome: 'success' | 'failure'; readonly ms: number };

export type ShardWorldOptions = {
  readonly targets: number;
  readonly probe?: object;
  readonly answer?: (port: number) => Answer;
  readonly room?: Room;
  /** The store as runs see it. */
  readonly wrapStore?: (store: Store) => Store;
};

/** `cold`: by a process that remembers nothing. */
type Holding = { readonly cold?: boolean; readonly message?: Partial<ShardMessage> };

/** Of a target as the API shows it, what is looked at here. */
type ShownTarget = {
  readonly status: { readonly probes: readonly { readonly result?: string; readonly reason?: string }[] };
};

const canary = { host: '10.255.0.1', port: 443 };
const shard = '00';
const unlimited = { cpu: Number.POSITIVE_INFINITY, sockets: Number.POSITIVE_INFINITY };

export async function shardWorld({
  targets,
  probe = {},
  answer = () => healthy,
  room,
  wrapStore = (store) => store,
}: ShardWorldOptions) {
  const clock = standingClock();
  const random = seededRandom(1);
  const log = recordingLog();
  const store = sqliteStore({ path: ':memory:' });
  const bus = inProcessBus({ clock, random, log });
  const published: EventEnvelope[] = [];
  bus.subscribe({ source: ['probelet'] }, (event) => void published.push(event));
  bus.subscribe(
    { source: ['probelet'], 'detail-type': ['Probe Result Changed', 'Target Sync Requested'] },
    async ({ detail }) => {
      if ('target' in detail) await syncTarget({ store, bus, clock, random, log }, detail.target);
    },
    { concurrency: 8 },
  );
  const app = apiApp({ store, bus, clock, random, log, health: () => ({ ok: true, quarantined: [] }) });
  const api = async (method: string, path: string, body?: unknown) => {
    const answered = app.fetch(
      new Request(`http://probelet.test${path}`, {
        method,
        ...(body !== undefined && { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
      }),
    );
    return clock.runUntil(Promise.resolve(answered).then((response) => response.json() as Promise<ShownTarget>));
  };
  /** `isDoubted`: the canaries are silent, though all targets answer. */
  const network = { isCut: false, isDoubted: false, answer };
  /** `refuses`: the bus takes none of these. */
  const trouble = { refuses: (_: BusEvent): boolean => false };
  const refusingBus: Bus = {
    async publish(events, options) {
      const refused = [...events.keys()].filter((at) => trouble.refuses(events[at] as BusEvent));
      await bus.publish(
        events.filter((_, at) => !refused.includes(at)),
        options,
      );
      return { failed: refused };
    },
  };

  for (let port = 1; port <= targets; port += 1) {
    const readinessProbe = { tcpSocket: { port }, periodSeconds: 10, ...probe };
    await api('PUT', `/v1/namespaces/default/targets/target-${port}`, { spec: { host: '10.0.0.1', readinessProbe } });
  }
  await clock.runUntil(currentLayout({ store, clock, random, log }, { ...layoutOptions, capacity: unlimited }));

  /** The targets of the probes whose metric series were removed. */
  const removedSeries: string[] = [];
  const portsOfRun = (): Ports => {
    const own = endingClock(clock);
    const tcp = async ({ port, timeoutMs }: { readonly port: number; readonly timeoutMs: number }) => {
      const { outcome, ms } = network.isCut ? { outcome: 'failure' as const, ms: timeoutMs } : network.answer(port);
      await sleep(own, ms);
      return attemptOf(outcome, ms);
    };
    const unused = () => Promise.reject(new Error('no such probe here'));
    const dial = async (): Promise<DialFailure> => {
      const isSilent = network.isCut || network.isDoubted;
      await sleep(own, isSilent ? 900 : 1);
      return dialFailure(isSilent ? 'CONNECT_TIMEOUT' : 'CONNECT_REFUSED');
    };
    return {
      clock,
      random,
      log,
      store: wrapStore(store),
      bus: refusingBus,
      lease: { extend: async () => true },
      dial,
      resolve: async (host) => ({ kind: 'resolved', addresses: [host] }),
      canaries: [canary],
      probers: { tcp, http: unused, grpc: unused, exec: unused },
      metrics: { observe: () => undefined, remove: ({ pod }) => void removedSeries.push(pod) },
      abandon: own.end,
    };
  };

  let slot = 0;
  const memory: ShardMemory = new Map();
  /** Begins a run, of the whole layout or of what `message` says; `end` lets it end in order, and says how it did. */
  const hold = async ({ cold = false, message: other = {} }: Holding = {}) => {
    slot += 1;
    const stop = new AbortController();
    let look: (() => RunView) | undefined;
    const slotEndMs = clock.nowMs() + slotMs;
    const message = shardMessage({ shard, slot, slotEndMs, buckets: { from: 0, to: 256 }, ...other });
    const options = {
      stop: stop.signal,
      memory: cold ? new Map() : memory,
      ...(room && { room }),
      onLoaded(view: () => RunView) {
        look = view;
      },
    };
    const running = runShard(portsOfRun(), message, slotEndMs, options);
    return {
      view: () => look?.(),
      ended: running,
      end: () => {
        stop.abort();
        return clock.runUntil(running);
      },
    };
  };

  return {
    clock,
    log,
    store,
    network,
    removedSeries,
    trouble,
    hold,
    api,
    /** Events of a kind, as they were published. */
    published: (detailType: string) => published.filter((event) => event['detail-type'] === detailType),
    async run(name = shard): Promise<RunRecord> {
      const item = await store.get(runKey(name));
      const decoded = item && decodeRun(item);
      if (decoded?.kind !== 'ok') throw new Error('no RUN');
      return decoded.record;
    },
  };
}

export const healthy: Answer = { outcome: 'success', ms: 5 };
export const failing: Answer = { outcome: 'failure', ms: 5 };

const slotMs = 3_600_000;
const layoutOptions = { mode: 'resident', desiredRelease: '' } as const;

const attemptOf = (outcome: Answer['outcome'], totalMs: number): Attempt => ({
  outcome,
  output: '',
  ...(outcome === 'failure' && { failureClass: 'CONNECT_TIMEOUT' as const }),
  timings: { totalMs },
});

const dialFailure = (failureClass: Extract<FailureClass, 'CONNECT_TIMEOUT' | 'CONNECT_REFUSED'>): DialFailure => ({
  kind: 'failed',
  failureClass,
  message: failureClass,
});
