import assert from 'node:assert/strict';
import { test } from 'node:test';
import { localMetrics } from '../../../functions/local/metrics/metrics.ts';
import type { ProbeMetricLabels } from '../../../shared/prober/metrics.ts';
import { samplesOf, wholeText } from '../../support/scraped.ts';

const pod = { pod: 'checkout', namespace: 'default', podUid: 'uid-1' };
const labels: ProbeMetricLabels = { probeType: 'readiness', container: 'app', ...pod };

const nothingWrong = { quarantinedItems: () => 0, perTarget: true };

async function seriesOf(metrics: ReturnType<typeof localMetrics>, name: string) {
  const lines = wholeText(metrics.families()).split('\n');
  return lines.filter((line) => line.startsWith(name));
}

test("probes are counted under kubelet's name and labels", async () => {
  const metrics = localMetrics(nothingWrong);
  metrics.probes.observe(labels, 'successful', 0.01);
  metrics.probes.observe(labels, 'successful', 0.01);
  metrics.probes.observe(labels, 'failed', 0.01);
  assert.deepEqual((await seriesOf(metrics, 'prober_probe_total')).sort(), [
    'prober_probe_total{probe_type="Readiness",container="app",pod="checkout",namespace="default",result="failed",pod_uid="uid-1"} 1',
    'prober_probe_total{probe_type="Readiness",container="app",pod="checkout",namespace="default",result="successful",pod_uid="uid-1"} 2',
  ]);
});

test('the duration is observed for successful and unknown probes only', async () => {
  const metrics = localMetrics(nothingWrong);
  metrics.probes.observe(labels, 'successful', 0.02);
  metrics.probes.observe(labels, 'unknown', 3);
  metrics.probes.observe(labels, 'failed', 7);
  const own = '{probe_type="Readiness",container="app",pod="checkout",namespace="default"}';
  for (const [part, value] of Object.entries({ count: 2, sum: 3.02 })) {
    const name = `prober_probe_duration_seconds_${part}`;
    assert.deepEqual(await seriesOf(metrics, name), [`${name}${own} ${value}`]);
  }
});

test('the series of a worker go with it, and begin at zero with the next', async () => {
  const metrics = localMetrics(nothingWrong);
  const other = { ...labels, podUid: 'uid-2', pod: 'cart' };
  for (const each of [labels, other]) metrics.probes.observe(each, 'unknown', 1);
  metrics.probes.remove(labels);
  metrics.probes.remove(labels);
  assert.equal((await seriesOf(metrics, 'prober_probe_total')).length, 1);
  assert.equal((await seriesOf(metrics, 'prober_probe_duration_seconds_count')).length, 1);
  metrics.probes.observe(labels, 'unknown', 1);
  assert.match((await seriesOf(metrics, 'prober_probe_total')).join('\n'), /uid-1"} 1$/m);
});

test('the buckets of the duration are cumulative', async () => {
  const metrics = localMetrics(nothingWrong);
  for (const seconds of [0.005, 0.006, 0.3, 10, 11]) metrics.probes.observe(labels, 'successful', seconds);
  const buckets = await seriesOf(metrics, 'prober_probe_duration_seconds_bucket');
  const found = samplesOf(buckets.join('\n')).map((one) => [one.labels.le, one.value]);
  const before = ['0.01', '0.025', '0.05', '0.1', '0.25'].map((bound) => [bound, 2]);
  const after = ['0.5', '1', '2.5', '5'].map((bound) => [bound, 3]);
  assert.deepEqual(found, [['0.005', 1], ...before, ...after, ['10', 4], ['+Inf', 5]]);
});

test('a target that is registered again shares the histogram of its name, which stays a single one', async () => {
  const metrics = localMetrics(nothingWrong);
  const again = { ...labels, podUid: 'uid-2' };
  for (const each of [labels, again]) metrics.probes.observe(each, 'successful', 0.02);
  const count = 'prober_probe_duration_seconds_count';
  const own = '{probe_type="Readiness",container="app",pod="checkout",namespace="default"}';
  assert.deepEqual(await seriesOf(metrics, count), [`${count}${own} 2`]);
  metrics.probes.remove(labels);
  metrics.probes.observe(again, 'successful', 0.02);
  assert.deepEqual(await seriesOf(metrics, count), [`${count}${own} 1`]);
  assert.equal((await seriesOf(metrics, 'prober_probe_total')).length, 1);
});

test('without series of each target, probes are counted by type and result, also those of workers that ended', async () => {
  const metrics = localMetrics({ ...nothingWrong, perTarget: false });
  for (const podUid of ['uid-1', 'uid-2']) metrics.probes.observe({ ...labels, podUid }, 'successful', 0.01);
  metrics.probes.observe({ ...labels, probeType: 'liveness' }, 'failed', 0.01);
  metrics.probes.remove(labels);
  assert.deepEqual((await seriesOf(metrics, 'prober_probe_total')).sort(), [
    'prober_probe_total{probe_type="Liveness",result="failed"} 1',
    'prober_probe_total{probe_type="Readiness",result="successful"} 2',
  ]);
  const count = 'prober_probe_duration_seconds_count';
  assert.deepEqual(await seriesOf(metrics, count), [`${count}{probe_type="Readiness"} 2`]);
});

test('quarantined items are a gauge', async () => {
  const metrics = localMetrics({ ...nothingWrong, quarantinedItems: () => 2 });
  assert.deepEqual(await seriesOf(metrics, 'probelet_quarantined_items'), ['probelet_quarantined_items 2']);
});
