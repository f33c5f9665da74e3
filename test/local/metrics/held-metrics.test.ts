/** The series that one process and a worker expose of what they hold, through their `/metrics`. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { labelsText, sample } from '../../../functions/local/metrics/exposition.ts';
import { restartTally } from '../../../functions/local/metrics/restart-tally.ts';
import { startControl } from '../../../functions/local/process/control.ts';
import { startRuntime } from '../../../functions/local/process/runtime.ts';
import { startWorker } from '../../../functions/local/process/worker.ts';
import type { BusEvent } from '../../../shared/bus/events.ts';
import { slotAt } from '../../../shared/core/shards/slots.ts';
import { sleep } from '../../../shared/lib/clock.ts';
import { targetAddress, targetKey } from '../../../shared/store/records/keys.ts';
import { askApi, type Served, targetPath } from '../../support/api-client.ts';
import { quietProcess, unansweredBook } from '../../support/quiet-process.ts';
import { recordingLog } from '../../support/recording-log.ts';
import { familyOf, samplesOf } from '../../support/scraped.ts';
import { seededRandom } from '../../support/seeded-random.ts';
import { virtualClock } from '../../support/virtual-clock.ts';
import { servicesInMemory } from '../services.ts';

/** Nothing listens there. */
const tcpSocket = { port: 9 };
const readinessProbe = { tcpSocket, periodSeconds: 5, failureThreshold: 1 };
const livenessProbe = { tcpSocket, periodSeconds: 5, failureThreshold: 1 };
const startMs = slotAt({ from: 0, mode: 'resident' }, Date.UTC(2030, 0, 1)).beginMs + 60_000;
const path = targetPath('checkout');

function timed() {
  const clock = virtualClock({ startMs, quiet: quietProcess(unansweredBook()) });
  const ports = { clock, random: seededRandom(1), log: recordingLog() };
  const ask = async (served: Served, method: string, route: string, body?: object) => {
    const { status, text } = await clock.runUntil(askApi(served, method, route, body));
    assert.ok(status < 300, `${method} ${route}: ${status}`);
    return text;
  };
  const scrape = async (served: Served) => samplesOf(await ask(served, 'GET', '/metrics'));
  const pass = (ms: number) => clock.runUntil(sleep(clock, ms));
  return { clock, ports, ask, scrape, pass };
}

type Samples = ReturnType<typeof samplesOf>;

/** The state that is 1, of a family with one series a state. */
const stateOf = (samples: Samples, family: string, label: string) =>
  familyOf(samples, family).flatMap(({ labels, value }) => (value === 1 ? [labels[label]] : []));

const valuesOf = (samples: Samples, family: string) => familyOf(samples, family).map(({ value }) => value);

/** The names of the families with a series of the target. */
const familiesOf = (samples: Samples) =>
  new Set(samples.filter(({ labels }) => labels.target === 'checkout').map(({ name }) => name));

describe('one process', () => {
  test('exposes a target from its registration to its purge, and does not stall while it is down', async () => {
    const { ports, ask, scrape, pass } = timed();
    const runtime = startRuntime({ dataDir: ':memory:' }, ports);
    await pass(2_000);
    const spec = { host: '127.0.0.1', readinessProbe, livenessProbe };
    const delayed = { ...readinessProbe, initialDelaySeconds: 60 };
    await ask(runtime, 'PUT', path, { spec: { ...spec, readinessProbe: delayed } });
    await pass(2_000);
    const registered = await scrape(runtime);
    assert.deepEqual(stateOf(registered, 'probelet_target_status_ready', 'condition'), ['unknown']);
    assert.equal(familyOf(registered, 'probelet_probe_result').length, 2 * 3);
    await ask(runtime, 'PUT', path, { spec });
    await pass(30_000);
    for (let minute = 0; minute < 15; minute += 1) {
      const down = await scrape(runtime);
      assert.deepEqual(stateOf(down, 'probelet_target_status_ready', 'condition'), ['false'], `minute ${minute}`);
      assert.deepEqual(stateOf(down, 'probelet_probe_result', 'result'), ['failure', 'failure'], `minute ${minute}`);
      await pass(60_000);
    }
    await ask(runtime, 'PUT', path, { spec: { host: '127.0.0.1', readinessProbe } });
    await pass(5_000);
    const changes = familyOf(await scrape(runtime), 'probelet_probe_last_change_timestamp_seconds');
    const types = changes.map(({ labels }) => labels.probe_type);
    assert.deepEqual(types, ['Readiness']);
    await ask(runtime, 'DELETE', `${path}?gracePeriodSeconds=0`);
    await pass(15_000);
    const purged = await scrape(runtime);
    assert.deepEqual(familiesOf(purged), new Set());
    assert.deepEqual(valuesOf(purged, 'probelet_prober_degraded'), [0]);
    assert.deepEqual(valuesOf(purged, 'probelet_prober_overloaded'), [0]);
    assert.deepEqual(valuesOf(purged, 'probelet_void_failures_total'), [0]);
    assert.deepEqual(valuesOf(purged, 'probelet_held_back_failures_total'), [0]);
    const buckets = valuesOf(purged, 'probelet_probe_lateness_seconds_bucket');
    const [count = 0] = valuesOf(purged, 'probelet_probe_lateness_seconds_count');
    assert.ok(count > 10, `${count} probes have begun`);
    assert.deepEqual(buckets, Array(10).fill(count), 'all of them in time');
    await ports.clock.runUntil(runtime.stop());
  });

  test('counts each restart that it requests, and each that is reported', async () => {
    const { ports, ask, scrape, pass } = timed();
    const runtime = startRuntime({ dataDir: ':memory:' }, ports);
    let published = 0;
    runtime.bus.subscribe({ 'detail-type': ['Container Restart Requested'] }, () => {
      published += 1;
    });
    await pass(2_000);
    const spec = { host: '127.0.0.1', livenessProbe: { ...livenessProbe, initialDelaySeconds: 10 } };
    await ask(runtime, 'PUT', path, { spec });
    await pass(4_000);
    assert.deepEqual(valuesOf(await scrape(runtime), 'probelet_restart_requests_total'), [0]);
    await pass(120_000);
    const requested = await scrape(runtime);
    assert.ok(published >= 4, `${published} requests`);
    assert.deepEqual(valuesOf(requested, 'probelet_restart_requests_total'), [published]);
    assert.deepEqual(valuesOf(requested, 'probelet_target_container_status_restarts_total'), [0]);
    await ask(runtime, 'POST', `${path}/restarted`, {});
    await pass(15_000);
    assert.deepEqual(valuesOf(await scrape(runtime), 'probelet_target_container_status_restarts_total'), [1]);
    await ports.clock.runUntil(runtime.stop());
  });
});

test('without series of each target, targets and probes are counted', async () => {
  const { clock, ports, ask, scrape, pass } = timed();
  const runtime = startRuntime({ dataDir: ':memory:', targetMetrics: false }, ports);
  await pass(2_000);
  const spec = { host: '127.0.0.1', readinessProbe, livenessProbe };
  for (const name of ['checkout', 'cart']) await ask(runtime, 'PUT', targetPath(name), { spec });
  const delayed = { ...readinessProbe, initialDelaySeconds: 600 };
  await ask(runtime, 'PUT', targetPath('slow'), { spec: { host: '127.0.0.1', readinessProbe: delayed } });
  await pass(30_000);
  const samples = await scrape(runtime);
  assert.deepEqual(
    familyOf(samples, 'probelet_targets').map(({ labels, value }) => [labels.condition, value]),
    [
      ['true', 0],
      ['false', 2],
      ['unknown', 1],
    ],
  );
  const probes = familyOf(samples, 'probelet_probes').filter(({ value }) => value > 0);
  assert.deepEqual(probes.map(({ labels, value }) => [labels.probe_type, labels.result, value]).sort(), [
    ['Liveness', 'failure', 2],
    ['Readiness', 'failure', 2],
    ['Readiness', 'unknown', 1],
  ]);
  const labels = new Set(samples.flatMap((one) => Object.keys(one.labels)));
  assert.deepEqual([...labels].sort(), ['condition', 'le', 'probe_type', 'result', 'shard']);
  await clock.runUntil(runtime.stop());
});

test('a worker exposes a shard from one slot to the next without a gap, and no longer than it holds it', async () => {
  const { clock, ports, ask, scrape, pass } = timed();
  const services = servicesInMemory(clock);
  const worker = startWorker({ release: '', concurrency: 1 }, { ...ports, services });
  const control = startControl({ release: '', mode: 'tick' }, { ...ports, services });
  const eachMinute = { ...readinessProbe, periodSeconds: 60 };
  await ask(control, 'PUT', path, { spec: { host: '127.0.0.1', readinessProbe: eachMinute } });
  await pass(180_000);
  for (let second = 0; second < 120; second += 10) {
    assert.deepEqual(stateOf(await scrape(worker), 'probelet_target_status_ready', 'condition'), ['false']);
    await pass(10_000);
  }
  await clock.runUntil(control.stop());
  await pass(240_000);
  const left = await scrape(worker);
  assert.deepEqual([familiesOf(left).size, valuesOf(left, 'probelet_shard_beat_age_seconds').length], [0, 0]);
  await clock.runUntil(worker.stop());
});

test('a worker counts the items of its shards that it cannot read', async () => {
  const { clock, ports, ask, scrape, pass } = timed();
  const services = servicesInMemory(clock);
  const key = targetKey(targetAddress('default', 'newer'));
  const worker = startWorker({ release: '', concurrency: 1 }, { ...ports, services });
  const control = startControl({ release: '', mode: 'resident' }, { ...ports, services });
  for (const name of ['checkout', 'newer'])
    await ask(control, 'PUT', targetPath(name), { spec: { host: '127.0.0.1', readinessProbe } });
  await services.store.write([{ kind: 'update', key, set: { schemaVersion: 99 } }], { token: 'a later release' });
  assert.deepEqual(valuesOf(await scrape(worker), 'probelet_quarantined_items'), [0]);
  await pass(180_000);
  assert.deepEqual(valuesOf(await scrape(worker), 'probelet_quarantined_items'), [1]);
  await clock.runUntil(control.stop());
  await clock.runUntil(worker.stop());
});

test('a request that is published twice counts once', async () => {
  const tally = restartTally();
  const bus = tally.counted();
  for (const id of ['one', 'one', 'two']) {
    const detail = { id, target: { uid: 'u' }, container: 'main' };
    await bus.publish([{ detailType: 'Container Restart Requested', detail } as BusEvent]);
  }
  assert.equal(tally.of('u', 'main'), 2);
  tally.keepOnly(new Set());
  assert.equal(tally.of('u', 'main'), 0);
});

test('label values are escaped as the text format asks', () => {
  const line = sample('one', labelsText({ label: 'a "b"\\c\nd' }), 0.5);
  assert.equal(line, 'one{label="a \\"b\\"\\\\c\\nd"} 0.5\n');
});
