/** `/metrics` of one process: kubelet's prober metrics with kubelet's names and labels, in Prometheus' text format. */
import Counter from 'prom-client/lib/counter.js';
import Gauge from 'prom-client/lib/gauge.js';
import Histogram from 'prom-client/lib/histogram.js';
import Registry from 'prom-client/lib/registry.js';
import {
  type ProbeMetricLabels,
  type ProbeMetricResult,
  type ProbeMetrics,
  probeTypeLabel,
} from '../../shared/prober/metrics.ts';

export type LocalMetrics = {
  readonly probes: ProbeMetrics;
  /** For additional metrics of the process. */
  readonly registry: Registry;
  readonly text: () => Promise<string>;
};

type Options = {
  /** Returns the number of quarantined items. */
  readonly quarantinedItems: () => number;
};

/** The series of one worker, so that an observation needs a single lookup. */
type Series = {
  readonly results: { readonly [result in ProbeMetricResult]: { inc(): void } };
  readonly duration: { observe(seconds: number): void };
};

const results: readonly ProbeMetricResult[] = ['successful', 'failed', 'unknown'];

export function localMetrics(options: Options): LocalMetrics {
  const registry = new Registry();
  new Gauge({
    name: 'probelet_quarantined_items',
    help: 'Quarantined items of the store, which cannot be read.',
    registers: [registry],
    collect() {
      this.set(options.quarantinedItems());
    },
  });
  return { probes: probeMetrics(registry), registry, text: () => registry.metrics() };
}

function probeMetrics(registry: Registry): ProbeMetrics {
  const total = new Counter({
    name: 'prober_probe_total',
    help: 'Cumulative number of a liveness, readiness or startup probe for a container by result.',
    labelNames: ['probe_type', 'result', 'container', 'pod', 'namespace', 'pod_uid'],
    registers: [registry],
  });
  // prom-client's default buckets are those of Prometheus' Go client, which kubelet uses.
  const duration = new Histogram({
    name: 'prober_probe_duration_seconds',
    help: 'Duration in seconds for a probe response.',
    labelNames: ['probe_type', 'container', 'pod', 'namespace'],
    registers: [registry],
  });
  const workers = new Map<string, Series>();
  /** A worker keeps its labels, so their text is needed only once. Emptied when a series is removed. */
  let ofLabels = new WeakMap<ProbeMetricLabels, Series>();

  const seriesOf = (labels: ProbeMetricLabels): Series => {
    const held = ofLabels.get(labels);
    if (held) return held;
    const key = workerKey(labels);
    const series = workers.get(key) ?? newSeries(labels);
    workers.set(key, series);
    ofLabels.set(labels, series);
    return series;
  };
  const newSeries = (labels: ProbeMetricLabels): Series => {
    const child = (result: ProbeMetricResult) => total.labels(totalLabels(labels, result));
    return {
      results: { successful: child('successful'), failed: child('failed'), unknown: child('unknown') },
      duration: duration.labels(durationLabels(labels)),
    };
  };

  return {
    observe: (labels, result, durationSeconds) => {
      const series = seriesOf(labels);
      series.results[result].inc();
      if (result !== 'failed') series.duration.observe(durationSeconds);
    },
    remove: (labels) => {
      workers.delete(workerKey(labels));
      ofLabels = new WeakMap();
      for (const result of results) total.remove(totalLabels(labels, result));
      duration.remove(durationLabels(labels));
    },
  };
}

const workerKey = ({ podUid, container, probeType }: ProbeMetricLabels): string =>
  `${podUid}/${container}/${probeType}`;

const durationLabels = ({ probeType, container, pod, namespace }: ProbeMetricLabels) => ({
  probe_type: probeTypeLabel[probeType],
  container,
  pod,
  namespace,
});

const totalLabels = (labels: ProbeMetricLabels, result: ProbeMetricResult) => ({
  ...durationLabels(labels),
  result,
  pod_uid: labels.podUid,
});
