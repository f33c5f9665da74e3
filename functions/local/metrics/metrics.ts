/** kubelet's prober metrics of one process, with kubelet's names and labels. */
import {
  type ProbeMetricLabels,
  type ProbeMetricResult,
  type ProbeMetrics,
  probeTypeLabel,
} from '../../../shared/prober/metrics.ts';
import { type Family, type FamilyText, histogramText, type Labels, labelsText, sample, textsOf } from './exposition.ts';

export type LocalMetrics = {
  readonly probes: ProbeMetrics;
  /** The families with the series of this moment; their values are those of the moment in which they are read. */
  readonly families: () => readonly FamilyText[];
};

export type LocalMetricsOptions = {
  /** Returns the number of quarantined items. */
  readonly quarantinedItems: () => number;
  /** What files of the configuration have that nothing probes; absent without a configuration. */
  readonly notMonitored?: (() => number) | undefined;
  /** Whether each target has series of its own. If not, probes are counted by type and result. */
  readonly perTarget: boolean;
};

/** `podUid`: absent if it counts for all targets. */
type Total = {
  readonly labels: Labels;
  readonly podUid?: string;
  readonly counts: { [result in ProbeMetricResult]: number };
};
/** `buckets`: observations by the bucket that they fall in, the last one without bound. */
type Duration = { readonly labels: Labels; readonly buckets: number[]; sum: number };
/** The series of one worker, so that an observation needs a single lookup. */
type Series = { readonly total: Total; readonly duration: Duration };

const quarantined: Family = {
  name: 'probelet_quarantined_items',
  type: 'gauge',
  help: 'Quarantined items of the store, which cannot be read.',
};
const unmonitored: Family = {
  name: 'probelet_config_entries_not_monitored',
  type: 'gauge',
  help: 'Entries of the files of the configuration that nothing probes, such as endpoints that no probe can ask.',
};
const total: Family = {
  name: 'prober_probe_total',
  type: 'counter',
  help: 'Cumulative number of a liveness, readiness or startup probe for a container by result.',
};
const duration: Family = {
  name: 'prober_probe_duration_seconds',
  type: 'histogram',
  help: 'Duration in seconds for a probe response.',
};

/** The default of Prometheus' Go client, which kubelet uses, in seconds. */
const bucketBounds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const results: readonly ProbeMetricResult[] = ['successful', 'failed', 'unknown'];

export function localMetrics({ quarantinedItems, notMonitored, perTarget }: LocalMetricsOptions): LocalMetrics {
  const counted = perTarget ? countedByWorker() : countedByType();
  return {
    probes: counted.probes,
    families: () => [
      { family: quarantined, series: [sample(quarantined.name, '', quarantinedItems())] },
      ...(notMonitored ? [{ family: unmonitored, series: [sample(unmonitored.name, '', notMonitored())] }] : []),
      { family: total, series: textsOf(counted.totals(), totalText) },
      { family: duration, series: textsOf(counted.durations(), durationText) },
    ],
  };
}

type Counted = {
  readonly probes: ProbeMetrics;
  readonly totals: () => readonly Total[];
  readonly durations: () => readonly Duration[];
};

function countedByWorker(): Counted {
  const totals = new Map<string, Total>();
  /** kubelet's histogram has no `pod_uid`, so a target that is registered again may share it with its predecessor. */
  const durations = new Map<string, Duration>();
  /** A worker keeps its labels, so their text is needed only once. Emptied when a series is removed. */
  let ofLabels = new WeakMap<ProbeMetricLabels, Series>();

  const seriesOf = (labels: ProbeMetricLabels): Series => {
    const held = ofLabels.get(labels);
    if (held) return held;
    const [key, durationKey] = [totalKey(labels), keyOfDuration(labels)];
    const series = {
      total: totals.get(key) ?? newTotal(durationLabels(labels), labels.podUid),
      duration: durations.get(durationKey) ?? newDuration(durationLabels(labels)),
    };
    totals.set(key, series.total);
    durations.set(durationKey, series.duration);
    ofLabels.set(labels, series);
    return series;
  };

  return {
    probes: {
      observe: (labels, result, durationSeconds) => observe(seriesOf(labels), result, durationSeconds),
      remove: (labels) => {
        totals.delete(totalKey(labels));
        durations.delete(keyOfDuration(labels));
        ofLabels = new WeakMap();
      },
    },
    totals: () => [...totals.values()],
    durations: () => [...durations.values()],
  };
}

/** Counts whatever a worker has counted beyond its end, because a counter must not fall. */
function countedByType(): Counted {
  const types = new Map<string, Series>();
  const seriesOf = ({ probeType }: ProbeMetricLabels): Series => {
    const labels = { probe_type: probeTypeLabel[probeType] };
    const series = types.get(probeType) ?? { total: newTotal(labels), duration: newDuration(labels) };
    types.set(probeType, series);
    return series;
  };
  const all = () => [...types.values()];
  return {
    probes: {
      observe: (labels, result, durationSeconds) => observe(seriesOf(labels), result, durationSeconds),
      remove: () => undefined,
    },
    totals: () => all().map((series) => series.total),
    durations: () => all().map((series) => series.duration),
  };
}

const newTotal = (labels: Labels, podUid?: string): Total => ({
  labels,
  ...(podUid !== undefined && { podUid }),
  counts: { successful: 0, failed: 0, unknown: 0 },
});

const newDuration = (labels: Labels): Duration => ({
  labels,
  buckets: new Array<number>(bucketBounds.length + 1).fill(0),
  sum: 0,
});

function observe(series: Series, result: ProbeMetricResult, seconds: number): void {
  series.total.counts[result] += 1;
  if (result === 'failed') return;
  const { buckets } = series.duration;
  const bound = bucketBounds.findIndex((upper) => seconds <= upper);
  const bucket = bound === -1 ? bucketBounds.length : bound;
  buckets[bucket] = (buckets[bucket] ?? 0) + 1;
  series.duration.sum += seconds;
}

/** A result that was never counted has no series, as in kubelet. */
function totalText({ labels, podUid, counts }: Total): string {
  const ofUid = podUid !== undefined && { pod_uid: podUid };
  return results
    .filter((result) => counts[result] > 0)
    .map((result) => sample(total.name, labelsText({ ...labels, result, ...ofUid }), counts[result]))
    .join('');
}

function durationText({ labels, buckets, sum }: Duration): string {
  let count = 0;
  const bounds = buckets.map((inBucket, at) => {
    count += inBucket;
    return [`${bucketBounds[at] ?? '+Inf'}`, count] as const;
  });
  return count === 0 ? '' : histogramText(duration.name, labelsText(labels), { bounds, sum });
}

const totalKey = ({ podUid, container, probeType }: ProbeMetricLabels): string => `${podUid}/${container}/${probeType}`;

const keyOfDuration = ({ namespace, pod, container, probeType }: ProbeMetricLabels): string =>
  `${namespace}/${pod}/${container}/${probeType}`;

const durationLabels = ({ probeType, container, pod, namespace }: ProbeMetricLabels): Labels => ({
  probe_type: probeTypeLabel[probeType],
  container,
  pod,
  namespace,
});
