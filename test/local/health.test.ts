/**
 * What `/healthz` of each kind of process says while a prober doubts itself. A supervisor must not restart it for that.
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { startControl } from '../../functions/local/process/control.ts';
import { startRuntime } from '../../functions/local/process/runtime.ts';
import { startWorker } from '../../functions/local/process/worker.ts';
import { healthView } from '../../shared/api/routes/operations.ts';
import { inProcessBus } from '../../shared/bus/in-process.ts';
import { systemClock } from '../../shared/lib/clock.ts';
import type { LogFields } from '../../shared/lib/log.ts';
import { systemRandom } from '../../shared/lib/random.ts';
import { dialPolicy } from '../../shared/net/policy.ts';
import { runSchedule } from '../../shared/schedule/schedule.ts';
import { encodeRun } from '../../shared/store/records/items.ts';
import { askApi, register as registerTarget, type Served } from '../support/api-client.ts';
import { recordingLog } from '../support/recording-log.ts';
import { servicesInMemory } from './services.ts';

/** No DNS server answers, neither for the target nor for the canary. */
const network = { policy: dialPolicy({ mode: 'local' }), dnsServers: ['127.0.0.1:9'] };
const wayOut = { kind: 'named', canaries: [{ host: 'canary.invalid', port: 443 }] } as const;
const spec = { host: 'target.invalid', readinessProbe: { tcpSocket: { port: 80 }, periodSeconds: 1 } };
const [clock, random] = [systemClock, systemRandom];

/** A log, and the moment when it says that the prober is in doubt. */
function doubtLog() {
  const { promise: doubtful, resolve } = Promise.withResolvers<void>();
  const warn = (_: string, fields?: LogFields) => {
    if ((fields?.health as { readonly kind?: string } | undefined)?.kind === 'doubtful') resolve();
  };
  return { log: { ...recordingLog(), warn }, doubtful };
}

type Health = {
  readonly status: string;
  readonly degraded?: readonly { readonly reason: string; readonly since?: string; readonly shard?: string }[];
};

async function health(served: Served) {
  const { status: code, body } = await askApi<Health>(served, 'GET', '/healthz');
  return { code, status: body.status, degraded: body.degraded };
}

const register = (served: Served) => registerTarget(served, 'unresolved', spec);

describe('an overload', () => {
  const overloads = [{ shard: '00', reason: 'Cpu', sinceMs: 0 }];
  const overloaded = [{ shard: '00', reason: 'Cpu', since: '1970-01-01T00:00:00.000Z' }];
  for (const [what, given, status] of [
    ['is the status of a process that works', { ok: true }, 'overloaded'],
    ['is beside a doubt, which is worse', { ok: true, doubts: [{ reason: 'ResolverUnavailable' }] }, 'degraded'],
    ['is beside a failure, which is worse', { ok: false }, 'failing'],
  ] as const)
    test(what, () => {
      const view = healthView({ ...given, quarantined: [], overloads });
      assert.deepEqual([view.status, view.overloaded], [status, overloaded]);
    });
});

describe('/healthz', { concurrency: true }, () => {
  test('of one process alone says that its prober doubts itself, and why', async () => {
    const { log, doubtful } = doubtLog();
    const runtime = startRuntime({ dataDir: ':memory:' }, { clock, random, log, network, wayOut });
    await runtime.shard.loaded;
    assert.equal((await health(runtime)).status, 'ok');
    await register(runtime);
    await doubtful;
    const { code, status, degraded } = await health(runtime);
    await runtime.stop();
    assert.deepEqual([code, status, degraded?.[0]?.reason], [200, 'degraded', 'ResolverUnavailable']);
    assert.ok(!Number.isNaN(Date.parse(degraded?.[0]?.since ?? '')), 'since when');
  });

  test('of a worker names the shard', async () => {
    const { log, doubtful } = doubtLog();
    const services = servicesInMemory(clock);
    const options = { release: '', concurrency: 1 };
    const worker = startWorker(options, { clock, random, log, services, network, wayOut });
    const alone = startControl({ release: '', mode: 'resident' }, { clock, random, log, services });
    await register(alone);
    await doubtful;
    const { code, status, degraded } = await health(worker);
    await Promise.all([alone.stop(), worker.stop()]);
    assert.deepEqual([code, status], [200, 'degraded']);
    assert.deepEqual([degraded?.[0]?.shard, degraded?.[0]?.reason], ['00', 'ResolverUnavailable']);
  });

  test('of a control process that has not reached the table yet says so', async () => {
    const log = recordingLog();
    const services = servicesInMemory(clock);
    const store = { ...services.store, get: () => new Promise<never>(() => undefined) };
    const control = startControl(
      { release: '', mode: 'resident' },
      { clock, random, log, services: { ...services, store } },
    );
    assert.deepEqual(await health(control), { code: 503, status: 'failing', degraded: undefined });
  });

  test('of a control process names the shards whose prober doubts itself', async () => {
    const log = recordingLog();
    const services = servicesInMemory(clock);
    const { store } = services;
    const ports = { clock, random, log, ...services, bus: inProcessBus({ clock, random, log }) };
    const { layout } = await runSchedule(ports, { mode: 'resident' });
    const nowMs = clock.nowMs();
    const beat = { slot: 0, doneSlot: -1, beat: 1, beatAtMs: nowMs, observedAtMs: nowMs, degraded: true };
    const [shard = { shard: '00', generation: 1 }] = layout;
    const run = encodeRun(shard.shard, { token: 1, generation: shard.generation, ...beat });
    await store.write([{ kind: 'put', item: run }], { token: 'beat' });
    const control = startControl({ release: '', mode: 'resident' }, { clock, random, log, services });
    let shown = await health(control);
    while (shown.code !== 200) {
      await new Promise((resolve) => setImmediate(resolve));
      shown = await health(control);
    }
    await control.stop();
    assert.deepEqual(shown, { code: 200, status: 'degraded', degraded: [{ shard: '00', reason: 'ProberDegraded' }] });
  });
});
