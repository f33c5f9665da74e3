/** The figures of both parts, beside their limits, and the lines that explain them. */
import { atMost, exactly, type Figure, quantileOf, unjudged } from '../../support/figures.ts';
import { periodMs } from './cast.ts';
import type { ComputeChange, ComputesOutcome } from './computes.ts';
import { type HandoversOutcome, plannedGapMsMax } from './handovers.ts';
import type { Gap, KillsOutcome } from './kills.ts';
import { shardCount } from './layout-of-eight.ts';
import type { ReleasesOutcome } from './releases.ts';
import type { Harm } from './verdicts.ts';

export type Report = { readonly figures: readonly Figure[]; readonly lines: readonly string[] };

/** After a crash, the queue's own redelivery included. */
const crashGapSecondsMax = periodMs / 1_000 + 25;

export function killReport(outcomes: readonly KillsOutcome[]): Report {
  const all = <Value>(of: (outcome: KillsOutcome) => readonly Value[]): readonly Value[] => outcomes.flatMap(of);
  const sum = (of: (outcome: KillsOutcome) => number): number => outcomes.reduce((total, each) => total + of(each), 0);
  const gaps = all((outcome) => outcome.gaps);
  const clear = (...blows: readonly Gap['blow'][]) => gaps.filter((gap) => blows.includes(gap.blow) && !gap.inWeather);
  const bad = gaps.filter(({ inWeather }) => inWeather);
  const faults = {
    failureCommits: all((outcome) => outcome.failureCommits),
    changed: all((outcome) => outcome.changed),
    restarts: all((outcome) => outcome.restarts),
    untrue: all((outcome) => outcome.untrue),
    unfenced: all((outcome) => outcome.unfenced),
  };
  const weather = all((outcome) => [...outcome.weather]);
  const probes = sum((outcome) => outcome.probes.arrived);
  const duplicates = sum((outcome) => outcome.probes.duplicates);
  return {
    lines: [...faultLines(Object.values(faults).flat()), ...weatherLines('kills', weather)],
    figures: [
      ...gapFigures('kill -9 of a holder', clear('kill', 'early'), crashGapSecondsMax),
      ...gapFigures('of these within the start of its run', clear('early'), crashGapSecondsMax),
      ...gapFigures('SIGSTOP of a holder', clear('pause'), crashGapSecondsMax),
      ...gapFigures('kill or SIGSTOP in bad weather', bad),
      exactly('Failure committed of a healthy target', faults.failureCommits.length, 0),
      exactly('committed results changed', faults.changed.length, 0),
      exactly('false restarts', faults.restarts.length, 0),
      exactly('flaps published otherwise than answered', faults.untrue.length, 0),
      exactly('commits after a higher token, or without one', faults.unfenced.length, 0),
      unjudged('fenced writes, holds begun', `${sum((each) => each.fencedWrites)}, ${sum((each) => each.holds)}`),
      unjudged('probes of healthy targets', `${probes}, ${duplicates} within 0.9 period of the one before`),
      weatherFigure('kills', weather),
    ],
  };
}

export function handoverReport({ clear, whole, ...outcome }: HandoversOutcome): Report {
  const { miscounted } = clear;
  const harm = (of: keyof Harm): readonly string[] => [...new Set([...clear[of], ...whole[of]])];
  const faults = [
    ...harm('changed'),
    ...harm('failureCommits'),
    ...harm('restarts'),
    ...miscounted.wrong,
    ...miscounted.lost,
  ];
  const { arrived, duplicates } = clear.probes;
  const weather = [...outcome.weather];
  const longestSeconds = (clear.gapsMs.at(-1) ?? Number.POSITIVE_INFINITY) / 1_000;
  return {
    lines: [
      ...faultLines([...faults, ...outcome.unfenced]),
      ...clear.longGaps.map((gap) => `without an arrival for ${gap}`),
      ...clear.doubts.map((doubt) => `in doubt under a clear sky: ${doubt}`),
      ...weatherLines('hand-overs', weather),
    ],
    figures: [
      unjudged('from run to run, in one process: p50, p99', quantilesOf(outcome.takeoversMs.same)),
      unjudged('from run to run, to the other process: p50, p99', quantilesOf(outcome.takeoversMs.other)),
      unjudged('hand-overs', `${outcome.handovers}, ${outcome.toOther} of them to the other process`),
      unjudged(
        'ends of runs',
        [...Map.groupBy(outcome.ends, (kind) => kind)].map(([kind, each]) => `${kind} ${each.length}`).join(', '),
      ),
      exactly('committed results changed by a hand-over', harm('changed').length, 0),
      exactly('Failure committed one below the threshold', harm('failureCommits').length, 0),
      exactly('false restarts at hand-overs', harm('restarts').length, 0),
      exactly(`flips too early, in ${clear.blocks} blocks of answers`, miscounted.wrong.length, 0),
      exactly('flips missed for a success that was not counted', miscounted.lost.length, 0),
      unjudged('flips missed for an answer that was void', `${miscounted.voided.length}`),
      exactly('probes of what is on hold or has not started', outcome.unasked, 0),
      exactly('commits after a higher token, or without one, at hand-overs', outcome.unfenced.length, 0),
      unjudged('runs that ended in doubt under a clear sky', `${clear.doubts.length}`),
      unjudged('gap at a hand-over: times, p50, p99', `${clear.gapsMs.length}, ${quantilesOf(clear.gapsMs)}`),
      atMost('gap at a hand-over: max', longestSeconds, { limit: plannedGapMsMax / 1_000, unit: 's' }),
      unjudged('probes', `${arrived}, ${duplicates} within 0.9 period of the one before`),
      weatherFigure('hand-overs', weather),
    ],
  };
}

const computeChanges: readonly ComputeChange[] = ['function to tasks', 'task to the spare one', 'tasks to function'];

export function computesReport({ gaps, lost, untrue, unfenced, ...outcome }: ComputesOutcome): Report {
  const faults = [...outcome.changed, ...outcome.failureCommits, ...outcome.restarts, ...lost, ...untrue, ...unfenced];
  const { arrived, duplicates } = outcome.probes;
  return {
    lines: faultLines(faults),
    figures: [
      ...computeChanges.map((change) => {
        const own = gaps.filter((gap) => gap.change === change).map(({ gapMs }) => gapMs / 1_000);
        const bound = { limit: plannedGapMsMax / 1_000, unit: 's' };
        return atMost(`${change}, ${own.length} times: gap max`, Math.max(...own), bound);
      }),
      exactly('targets lost by a change of compute', lost.length, 0),
      exactly('committed results changed by one', outcome.changed.length, 0),
      exactly('Failure committed one below the threshold, by one', outcome.failureCommits.length, 0),
      exactly('false restarts at one', outcome.restarts.length, 0),
      exactly('flaps at one published otherwise than answered', untrue.length, 0),
      exactly('commits after a higher token, or without one, at one', unfenced.length, 0),
      unjudged('fenced writes', `${outcome.fencedWrites}`),
      unjudged('probes', `${arrived}, ${duplicates} within 0.9 period of the one before`),
    ],
  };
}

/** Record 86: a trial takes 110 s, and the schedule looks once a minute. */
const trialSecondsMax = 120;
const decidedSecondsMax = 190;
/** A run leaves 45 s after it began at the earliest, and the runs follow within as long again. */
const followedSecondsMax = decidedSecondsMax + 100;

export function releasesReport({ broken, working, ...harm }: ReleasesOutcome): Report {
  const faults = [...harm.changed, ...harm.failureCommits, ...harm.restarts];
  const plannedSeconds = { limit: plannedGapMsMax / 1_000, unit: 's' };
  const seconds = (name: string, ms: number, limit: number) => atMost(name, ms / 1_000, { limit, unit: 's' });
  return {
    lines: faultLines([...faults, ...broken.gaveUpLater.map((shard) => `${shard} gave up for a refused release`)]),
    figures: [
      exactly('a release that does not start: shards that gave up for it', broken.shards.length, 1),
      unjudged('times that a run of this shard gave up', `${broken.times}`),
      seconds('longest gap of its targets', broken.gapMs.tried, trialSecondsMax),
      atMost('longest gap of the targets of other shards', broken.gapMs.others / 1_000, plannedSeconds),
      seconds('until it was refused', broken.refusedMs, decidedSecondsMax),
      seconds('until the refusal was published', broken.publishedMs, decidedSecondsMax),
      exactly('shards with a run of the release before, after the refusal', broken.kept, shardCount),
      exactly('shards that gave up after the refusal', broken.gaveUpLater.length, 0),
      exactly('a release that works: shards that gave up before it had proved', working.shards.length, 1),
      seconds('until it had proved', working.provedMs, decidedSecondsMax),
      seconds('until it held all shards', working.allMs, followedSecondsMax),
      atMost(
        'longest gap of any target meanwhile',
        Math.max(working.gapMs.tried, working.gapMs.others) / 1_000,
        plannedSeconds,
      ),
      exactly('results changed, failures committed, false restarts by a release', faults.length, 0),
    ],
  };
}

/** Judged if there is a limit. */
function gapFigures(name: string, gaps: readonly Gap[], limit?: number): readonly Figure[] {
  if (gaps.length === 0) return [];
  const ascending = gaps.map(({ gapMs }) => gapMs / 1_000).toSorted((one, other) => one - other);
  const p50 = quantileOf(ascending, 0.5).toFixed(1);
  const p99 = quantileOf(ascending, 0.99);
  const max = (ascending.at(-1) ?? 0).toFixed(1);
  return [
    unjudged(`${name}: times, gap p50, max`, `${gaps.length}, ${p50} s, ${max} s`),
    limit === undefined
      ? unjudged(`${name}: gap p99`, `${p99.toFixed(1)} s`)
      : atMost(`${name}: gap p99`, p99, { limit, unit: 's' }),
  ];
}

const quantilesOf = (ascendingMs: readonly number[]): string =>
  [0.5, 0.99].map((part) => `${(quantileOf(ascendingMs, part) / 1_000).toFixed(1)} s`).join(', ');

const faultLines = (faults: readonly string[]): readonly string[] => faults.map((fault) => `FAULT ${fault}`);

type Counted = readonly (readonly [kind: string, count: number])[];

const sumOf = (counts: Counted): number => counts.reduce((total, [, count]) => total + count, 0);

const weatherLines = (name: string, counts: Counted): readonly string[] =>
  [...Map.groupBy(counts, ([kind]) => kind)].map(([kind, each]) => `${name}, on the way: ${kind}: ${sumOf(each)}`);

const weatherFigure = (name: string, counts: Counted): Figure =>
  unjudged(`faults on the way, ${name}`, `${sumOf(counts)} of ${new Set(counts.map(([kind]) => kind)).size} kinds`);
