/**
 * Metrics of the targets, probes and shards that a process holds, in the style of kube-state-metrics. Each scrape
 * computes them from the holder's memory, so a series exists as long as its target or probe is held, and probing has no
 * extra cost.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { TargetReading } from '../../../shared/holder/readings.ts';
import type { RunView } from '../../../shared/holder/shard-run.ts';
import { probeTypeLabel } from '../../../shared/prober/metrics.ts';
import { type Family, type FamilyText, histogramText, labelsText, sample, textsOf } from './exposition.ts';
import type { RestartTally } from './restart-tally.ts';

export type HeldMetricsPorts = {
  /** Returns the views of the shards that the process holds. */
  readonly views: () => readonly RunView[];
  readonly requests: RestartTally;
  /** Whether each target has series of its own. If not, targets and probes are counted. */
  readonly perTarget: boolean;
  /** To be awaited between the readings of some targets. If absent, each part of them takes a turn of its own. */
  readonly pause?: (() => Promise<void>) | undefined;
};

/** How many targets are read before probes get a turn; takes about 1 ms. */
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
  targets: gauge('targets', 'Targets by the status of their condition Ready.'),
  probes: gauge('probes', 'Probes by their result as the API shows it.'),
  degraded: gauge('prober_degraded', 'Whether the prober of the shard fails its self-check and commits no result.'),
  overloaded: gauge('prober_overloaded', 'Whether more probes of the shard are due than can begin in time.'),
  lateness: histogram('probe_lateness_seconds', 'How long after they were due the probes of the shard have begun.'),
  voidFailures: counter(
    'void_failures_total',
    'Failures that did not count, because the prober doubted itself or stood still.',
  ),
  heldBack: counter(
    'held_back_failures_total',
    'Failures at their threshold that wait for another probe, because many targets of the shard turn unhealthy.',
  ),
  beatAge: gauge('shard_beat_age_seconds', 'Time since the last written heartbeat of the shard.'),
  late: gauge('late_probes', 'Probes of the shard that were last made so long ago that their result is unknown.'),
} as const;

const conditions = ['true', 'false', 'unknown'] as const;
const results = ['success', 'failure', 'unknown'] as const;

/**
 * Reads all targets, in turns with the probes, and returns the families with what was read. Their text is made as it is
 * asked for.
 */
export async function heldFamilies({ views, requests, perTarget, pause = nextTurn }: HeldMetricsPorts) {
  const held = views();
  const read = perTarget ? keptReadings(requests) : countedReadings();
  const uids = new Set<string>();
  for (const view of held) {
    for (const reading of view.readings()) {
      if (uids.has(reading.uid)) continue;
      uids.add(reading.uid);
      read.add(reading);
      if (uids.size % targetsPerTurn === 0) await pause();
    }
  }
  requests.keepOnly(uids);
  return [...read.families(), ...shardFamilies(held)];
}

type Read = {
  add(reading: TargetReading): void;
  families(): readonly FamilyText[];
};

function keptReadings(tally: RestartTally): Read {
  const readings: TargetReading[] = [];
  const ofEach = (family: Family, textOf: (family: Family, reading: TargetReading) => string): FamilyText => ({
    family,
    series: textsOf(readings, (reading) => textOf(family, reading)),
  });
  return {
    add: (reading) => readings.push(reading),
    families: () => [
      ofEach(families.ready, readyText),
      ofEach(families.restarts, (family, reading) => containersText(family, reading, ({ restarts }) => restarts)),
      ofEach(families.requests, (family, reading) =>
        containersText(family, reading, ({ name }) => tally.of(reading.uid, name)),
      ),
      ofEach(families.result, resultText),
      ofEach(families.lastProbe, (family, reading) => timesText(family, reading, 'lastProbeAtMs')),
      ofEach(families.lastChange, (family, reading) => timesText(family, reading, 'lastChangeAtMs')),
    ],
  };
}

function readyText({ name: family }: Family, { namespace, name: target, ready }: TargetReading): string {
  const own = labelsText({ namespace, target });
  const text = (condition: string) =>
    sample(family, `${own},condition="${condition}"`, ready.toLowerCase() === condition ? 1 : 0);
  return conditions.map(text).join('');
}

type Container = TargetReading['containers'][number];

function containersText({ name: family }: Family, reading: TargetReading, measured: (of: Container) => number): string {
  const { namespace, name: target, containers } = reading;
  return containers
    .map((one) => sample(family, labelsText({ namespace, target, container: one.name }), measured(one)))
    .join('');
}

function resultText({ name: family }: Family, reading: TargetReading): string {
  return reading.probes
    .map((probe) => {
      const own = probeLabels(reading, probe);
      return results
        .map((result) => sample(family, `${own},result="${result}"`, probe.result === result ? 1 : 0))
        .join('');
    })
    .join('');
}

type Probe = TargetReading['probes'][number];

function timesText({ name: family }: Family, reading: TargetReading, time: 'lastProbeAtMs' | 'lastChangeAtMs'): string {
  return reading.probes
    .map((probe) => {
      const atMs = probe[time];
      return atMs === undefined ? '' : sample(family, probeLabels(reading, probe), atMs / 1000);
    })
    .join('');
}

const probeLabels = ({ namespace, name: target }: TargetReading, { container, probeType }: Probe): string =>
  labelsText({ namespace, target, container, probe_type: probeTypeLabel[probeType] });

/** Counts under other names than those of the series of each target, which rules compare with 1. */
function countedReadings(): Read {
  const targets = new Map<string, number>(conditions.map((condition) => [condition, 0]));
  const probes = new Map<Probe['probeType'], Map<string, number>>();
  return {
    add({ ready, probes: read }) {
      addOne(targets, ready.toLowerCase());
      for (const { probeType, result } of read) {
        const ofType = probes.get(probeType) ?? new Map<string, number>(results.map((each) => [each, 0]));
        probes.set(probeType, ofType);
        addOne(ofType, result);
      }
    },
    families: () => [
      {
        family: families.targets,
        series: [...targets].map(([condition, count]) =>
          sample(families.targets.name, labelsText({ condition }), count),
        ),
      },
      {
        family: families.probes,
        series: [...probes].flatMap(([probeType, ofType]) =>
          [...ofType].map(([result, count]) =>
            sample(families.probes.name, labelsText({ probe_type: probeTypeLabel[probeType], result }), count),
          ),
        ),
      },
    ],
  };
}

const addOne = (counts: Map<string, number>, key: string): void => void counts.set(key, (counts.get(key) ?? 0) + 1);

function shardFamilies(views: readonly RunView[]): readonly FamilyText[] {
  const ofEach = (family: Family, measured: (view: RunView) => number): FamilyText => ({
    family,
    series: views.map((view) => sample(family.name, labelsText({ shard: view.shard }), measured(view))),
  });
  return [
    ofEach(families.degraded, ({ beat }) => (beat.doubt ? 1 : 0)),
    ofEach(families.overloaded, ({ beat }) => (beat.overload ? 1 : 0)),
    { family: families.lateness, series: views.map(latenessText) },
    ofEach(families.voidFailures, ({ uncounted }) => uncounted.void),
    ofEach(families.heldBack, ({ uncounted }) => uncounted.heldBack),
    ofEach(families.beatAge, ({ beatAgeMs }) => beatAgeMs / 1000),
    ofEach(families.late, ({ beat }) => beat.late),
  ];
}

function latenessText({ shard, lateness: { buckets, count, sumMs } }: RunView): string {
  const bounds = buckets.map(({ leMs, count: upTo }) => [`${leMs / 1_000}`, upTo] as const);
  const own = labelsText({ shard });
  return histogramText(families.lateness.name, own, { bounds: [...bounds, ['+Inf', count]], sum: sumMs / 1_000 });
}
