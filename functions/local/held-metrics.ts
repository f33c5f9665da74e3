/**
 * Metrics of the targets, probes and shards that a process holds, in the style of kube-state-metrics. Each scrape
 * computes them from the holder's memory, so a series exists as long as its target or probe is held, and probing has no
 * extra cost.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { probeTypeLabel } from '../../shared/prober/metrics.ts';
import type { TargetReading } from '../../shared/run/readings.ts';
import type { RunView } from '../../shared/run/run-view.ts';
import { type Exposition, exposition, type Family } from './exposition.ts';
import type { RestartTally } from './restart-tally.ts';

export type HeldMetricsPorts = {
  /** Returns the views of the shards that the process holds. */
  readonly views: () => readonly RunView[];
  readonly requests: RestartTally;
};

/** How many targets are read before probes get a turn; takes about 3 ms. */
const targetsPerTurn = 50;

const gauge = (name: string, help: string): Family => ({ name: `probelet_${name}`, type: 'gauge', help });
const counter = (name: string, help: string): Family => ({ name: `probelet_${name}`, type: 'counter', help });

const histogram = (name: string, help: string): Family => ({ name: `probelet_${name}`, type: 'histogram', help });

const families = {
  ready: gauge('target_status_ready', 'Whether the target is ready: 1 for the status of its condition Ready.'),
  restarts: counter('target_container_status_restarts_total', 'Restarts of the container that were reported.'),
  requests: counter('restart_requests_total', 'Restarts of the container that were requested, repetitions included.'),
  result: gauge('probe_result', 'Result of the probe as the API shows it: 1 for the present one.'),
  lastProbe: gauge('probe_last_probe_timestamp_seconds', 'When the last probe that gave a verdict was made.'),
  lastChange: gauge('probe_last_change_timestamp_seconds', 'When the result of the probe last changed.'),
  degraded: gauge('prober_degraded', 'Whether the prober of the shard fails its self-check and commits no result.'),
  overloaded: gauge('prober_overloaded', 'Whether more probes of the shard are due than can begin in time.'),
  lateness: histogram('probe_lateness_seconds', 'How long after they were due the probes of the shard have begun.'),
  beatAge: gauge('shard_beat_age_seconds', 'Time since the last written heartbeat of the shard.'),
  late: gauge('late_probes', 'Probes of the shard that were last made so long ago that their result is unknown.'),
} as const;

type Lines = Exposition<keyof typeof families>;

/** Returns the text of one scrape. */
export async function heldMetrics({ views, requests }: HeldMetricsPorts): Promise<string> {
  const lines = exposition(families);
  const uids = new Set<string>();
  for (const view of views()) {
    addShard(lines, view);
    for (const reading of view.readings()) {
      if (uids.has(reading.uid)) continue;
      uids.add(reading.uid);
      addTarget(lines, reading, requests);
      if (uids.size % targetsPerTurn === 0) await nextTurn();
    }
  }
  requests.keepOnly(uids);
  return lines.text();
}

function addShard(lines: Lines, { shard, beat, beatAgeMs, lateness }: RunView): void {
  lines.add('degraded', { shard }, beat.doubt ? 1 : 0);
  lines.add('overloaded', { shard }, beat.overload ? 1 : 0);
  const { buckets, count, sumMs } = lateness;
  for (const { leMs, count: upTo } of buckets) lines.add('lateness', { shard, le: `${leMs / 1_000}` }, upTo, '_bucket');
  lines.add('lateness', { shard, le: '+Inf' }, count, '_bucket');
  lines.add('lateness', { shard }, sumMs / 1_000, '_sum');
  lines.add('lateness', { shard }, count, '_count');
  lines.add('beatAge', { shard }, beatAgeMs / 1000);
  lines.add('late', { shard }, beat.late);
}

function addTarget(lines: Lines, { namespace, name: target, uid, ...reading }: TargetReading, tally: RestartTally) {
  for (const condition of ['true', 'false', 'unknown'] as const) {
    const isSo = reading.ready.toLowerCase() === condition;
    lines.add('ready', { namespace, target, condition }, isSo ? 1 : 0);
  }
  for (const { name: container, restarts } of reading.containers) {
    lines.add('restarts', { namespace, target, container }, restarts);
    lines.add('requests', { namespace, target, container }, tally.of(uid, container));
  }
  for (const probe of reading.probes) addProbe(lines, { namespace, target }, probe);
}

type Target = { readonly namespace: string; readonly target: string };

function addProbe(lines: Lines, target: Target, probe: TargetReading['probes'][number]): void {
  const labels = { ...target, container: probe.container, probe_type: probeTypeLabel[probe.probeType] };
  for (const result of ['success', 'failure', 'unknown'] as const)
    lines.add('result', { ...labels, result }, probe.result === result ? 1 : 0);
  const { lastProbeAtMs, lastChangeAtMs } = probe;
  if (lastProbeAtMs !== undefined) lines.add('lastProbe', labels, lastProbeAtMs / 1000);
  if (lastChangeAtMs !== undefined) lines.add('lastChange', labels, lastChangeAtMs / 1000);
}
