/** One machine whose wall clock is set: the host of its shard, with targets that are probed every few seconds. */
import { hostShard } from '../../functions/local/process/shard-host.ts';
import { apiApp } from '../../shared/api/app.ts';
import { inProcessBus } from '../../shared/bus/in-process.ts';
import type { LayoutContext } from '../../shared/core/shards/layout.ts';
import type { Clock } from '../../shared/lib/clock.ts';
import { syncTarget } from '../../shared/status-sync/sync.ts';
import { sqliteStore } from '../../shared/store/sqlite/sqlite.ts';
import type { Operation, Store } from '../../shared/store/store.ts';
import { register } from '../support/api-client.ts';
import { mortalBus, mortalClock, mortalStore } from '../support/mortal-ports.ts';
import { recordingLog } from '../support/recording-log.ts';
import { seededRandom } from '../support/seeded-random.ts';
import { virtualClock } from '../support/virtual-clock.ts';

export const periodSeconds = 5;

/** `port` 1 answers, 2 answers and has an initial delay, 3 refuses: its restart is requested again and again. */
const spec = (port: number, seconds: number) => {
  const probe = { tcpSocket: { port }, periodSeconds: seconds };
  if (port === 3) return { host: '10.0.0.1', livenessProbe: { ...probe, failureThreshold: 1 } };
  return { host: '10.0.0.1', readinessProbe: { ...probe, ...(port === 2 && { initialDelaySeconds: 5 }) } };
};

const endsSlot = (operation: Operation): boolean =>
  operation.kind === 'update' &&
  operation.key.sk === 'RUN' &&
  operation.set?.slot === undefined &&
  operation.set?.doneSlot !== undefined;

export type SteppedWorld = ReturnType<typeof steppedWorld>;

export function steppedWorld(mode: LayoutContext['mode'] = 'resident') {
  const virtual = virtualClock();
  let stepMs = 0;
  const clock: Clock = { ...virtual, nowMs: () => virtual.nowMs() + stepMs };
  const random = seededRandom(1);
  const log = recordingLog();
  const stored = sqliteStore({ path: ':memory:' });
  /** Called before each call of the store, with whether it says that a slot is done. */
  let onCall = (_: boolean): void => undefined;
  const store: Store = {
    get(...call) {
      onCall(false);
      return stored.get(...call);
    },
    query(...call) {
      onCall(false);
      return stored.query(...call);
    },
    write(operations, options) {
      onCall(operations.some(endsSlot));
      return stored.write(operations, options);
    },
  };
  const bus = inProcessBus({ clock, random, log });
  bus.subscribe({ 'detail-type': ['Probe Result Changed', 'Target Sync Requested'] }, async ({ detail }) => {
    if ('target' in detail) await syncTarget({ store, bus, clock, random, log }, detail.target);
  });
  const app = apiApp({ store, bus, clock, random, log, health: () => ({ ok: true, quarantined: [] }) });
  /** By port, monotonic. */
  const probed = new Map<number, number>();
  const gaps = new Map<number, number>();
  const step = (ms: number) => {
    stepMs = ms;
  };
  const lookAt = (port: number) => {
    const nowMs = virtual.monotonicMs();
    gaps.set(port, Math.max(gaps.get(port) ?? 0, nowMs - (probed.get(port) ?? nowMs)));
    return nowMs;
  };
  const tcp = async ({ port }: { readonly port: number }) => {
    probed.set(port, lookAt(port));
    const timings = { totalMs: 1 };
    return port === 3
      ? { outcome: 'failure' as const, output: 'refused', failureClass: 'CONNECT_REFUSED' as const, timings }
      : { outcome: 'success' as const, output: '', timings };
  };
  const unused = () => Promise.reject(new Error('no such probe here'));
  const forRun = () => ({
    dial: unused,
    resolve: unused,
    probers: { tcp, http: unused, grpc: unused, exec: unused },
    abandon: () => undefined,
  });
  const metrics = { observe: () => undefined, remove: () => undefined };
  let kill = (): void => undefined;
  const start = () => {
    let isAlive = true;
    kill = () => {
      isAlive = false;
    };
    const alive = () => isAlive;
    const mortal = { clock: mortalClock(clock, alive), store: mortalStore(store, alive), bus: mortalBus(bus, alive) };
    return hostShard({ random, log, canaries: [], forRun, metrics, ...mortal }, { mode });
  };
  let host = start();
  const startAgain = async () => {
    host = start();
    await virtual.advance(0);
  };
  return {
    log,
    nowMs: clock.nowMs,
    advance: virtual.advance,
    register: (port: number, seconds = periodSeconds) => register(app, `target-${port}`, spec(port, seconds)),
    step,
    /**
     * Sets the clock at so many-th call of the store from the end of the present slot on; whether it has come to that.
     */
    stepAtCall(ms: number, call: number): () => boolean {
      let calls = Number.NEGATIVE_INFINITY;
      onCall = (isEnd) => {
        if (isEnd) calls = Math.max(calls, 0);
        if (calls === call) step(ms);
        calls += 1;
      };
      return () => calls > call;
    },
    async restart() {
      await virtual.runUntil(host.stop());
      await startAgain();
    },
    /** Ends the process where it stands: nothing that it begins from here on is done. */
    kill: () => kill(),
    /** After a kill. */
    startAgain,
    stop: () => virtual.runUntil(host.stop()),
    /** The longest time that a port was not probed since the last look, by port. */
    takeGaps() {
      for (const port of probed.keys()) lookAt(port);
      const taken = [...gaps].toSorted();
      gaps.clear();
      for (const port of probed.keys()) probed.set(port, virtual.monotonicMs());
      return taken;
    },
  };
}
