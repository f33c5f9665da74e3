import assert from 'node:assert/strict';
import { test } from 'node:test';
import { localMetrics } from '../../functions/local/metrics.ts';
import type { ProbeMetricLabels } from '../../shared/prober/metrics.ts';

const pod = { pod: 'checkout', namespace: 'default', podUid: 'uid-1' };
const labels: ProbeMetricLabels = { probeType: 'readiness', container: 'app', ...pod };

const nothingWrong = { quarantinedItems: () => 0 };

async function seriesOf(metrics: ReturnType<typeof localMetrics>, name: string) {
  const lines = (await metrics.text()).split('\n');
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

test('quarantined items are a gauge', async () => {
  const metrics = localMetrics({ ...nothingWrong, quarantinedItems: () => 2 });
  assert.deepEqual(await seriesOf(metrics, 'probelet_quarantined_items'), ['probelet_quarantined_items 2']);
});
