/**
 * What may be shown of a target, given what its probes have really found: green only after a success, red only after failures, else
 * unknown. It knows the thresholds and nothing of the product.
 */
import type { Finding, Lifecycle, ProbeSpec, ProbeType, Specs } from './steps.ts';

/** One probe that was made: when (ms) and what it found. */
export type Asked = { readonly atMs: number; readonly finding: Finding };

export type Truth = {
  readonly nowMs: number;
  readonly lifecycle: Lifecycle;
  readonly specs: Specs;
  /** Since when the container of now runs; undefined: it does not run, or none was reported. */
  readonly runsSinceMs: number | undefined;
  /** When something last happened that may shorten a run of equal findings: another spec, another container, another holder. */
  readonly disturbedMs: number;
  readonly restarts: number;
  readonly asked: (type: ProbeType) => readonly Asked[];
};

export type ShownProbe = { readonly probeType: ProbeType; readonly result: string; readonly reason?: string };

export type Shown = {
  readonly probes: readonly ShownProbe[];
  readonly conditions: readonly { readonly type: string; readonly status: string; readonly reason?: string }[];
  readonly containerStatuses: readonly { readonly restartCount: number }[];
};

/** What is wrong with what is shown now, whatever may still be on its way. */
export function liesIn(truth: Truth, shown: Shown): readonly string[] {
  return shown.probes.flatMap((probe) => {
    const spec = truth.specs[probe.probeType];
    if (!spec) return [`${probe.probeType} is shown and not in the spec`];
    return probe.result === 'unknown' ? [] : lieOf(truth, probe, spec);
  });
}

function lieOf(truth: Truth, { probeType, result }: ShownProbe, spec: ProbeSpec): readonly string[] {
  const since = truth.runsSinceMs;
  // A startup worker is on hold after its verdict, which stays what was seen of this container.
  if (since === undefined)
    return result === 'success' && probeType !== 'startup'
      ? [`${probeType} is green, and its container does not run`]
      : [];
  const seen = truth.asked(probeType).filter(({ atMs }) => atMs >= since);
  const wanted = minimumOf(truth, result === 'success' ? spec.successThreshold : spec.failureThreshold);
  return longestRun(seen, result) >= wanted
    ? []
    : [
        `${probeType} is ${result} after ${seen.map(({ finding }) => finding).join(' ') || 'nothing'}, threshold ${wanted}`,
      ];
}

/** kubelet's run goes on with the next container of a reported target, and another spec may have asked for less. */
const minimumOf = ({ lifecycle, disturbedMs, runsSinceMs = 0 }: Truth, threshold: number): number =>
  lifecycle === 'reported' || disturbedMs > runsSinceMs ? 1 : threshold;

/** Prober errors neither lengthen a run nor end it. */
function longestRun(seen: readonly Asked[], result: string): number {
  let longest = 0;
  let run = 0;
  for (const { finding } of seen) {
    if (finding === result) run += 1;
    else if (finding === 'success' || finding === 'failure') run = 0;
    longest = Math.max(longest, run);
  }
  return longest;
}

/** What is wrong with what is shown once all that was found has been taken in. */
export function faultsIn(truth: Truth, shown: Shown): readonly string[] {
  return [
    ...liesIn(truth, shown),
    ...shown.probes.flatMap((probe) => missedIn(truth, probe)),
    ...shown.probes.flatMap((probe) => pauseOf(truth, probe, shown)),
    ...conditionFaults(truth, shown),
    ...restartFaults(truth, shown),
  ];
}

/** The holder looks at its change counters every 1.5 s: until then it asks what it knows, another container or another spec. */
const noticedMs = 2_500;

/** A verdict that has been due since the last disturbance was noticed, and is not shown. */
function missedIn(truth: Truth, { probeType, result, reason }: ShownProbe): readonly string[] {
  const { specs, runsSinceMs, disturbedMs } = truth;
  const spec = specs[probeType];
  if (!spec || runsSinceMs === undefined) return [];
  const sinceMs = Math.max(runsSinceMs, disturbedMs) + noticedMs;
  const seen = truth.asked(probeType).filter(({ atMs }) => atMs >= sinceMs);
  const last = seen.at(-1)?.finding;
  const because = `${probeType} is ${result} (${reason}) after ${seen.map(({ finding }) => finding).join(' ')}`;
  if (last === 'denied') return reason === 'PolicyDenied' ? [] : [because];
  if (last === 'error' && seen.at(-2)?.finding === 'error') return reason === 'ProberError' ? [] : [because];
  if (last !== 'success' && last !== 'failure') return [];
  const threshold = last === 'success' ? spec.successThreshold : spec.failureThreshold;
  const run = seen.slice(-threshold);
  const isDue = run.length === threshold && run.every(({ finding }) => finding === last);
  return isDue && result !== last ? [because] : [];
}

/** Of a static target: probing never pauses while its container runs, whatever the verdict. */
function pauseOf(truth: Truth, { probeType }: ShownProbe, { probes }: Shown): readonly string[] {
  const { lifecycle, specs, runsSinceMs, disturbedMs, nowMs, asked } = truth;
  const spec = specs[probeType];
  const startup = probes.find((probe) => probe.probeType === 'startup');
  const isItsTurn = probeType === 'startup' ? startup?.result !== 'success' : !startup || startup.result === 'success';
  if (lifecycle !== 'static' || !spec || runsSinceMs === undefined || !isItsTurn) return [];
  const lastMs = Math.max(asked(probeType).at(-1)?.atMs ?? 0, asked('startup').at(-1)?.atMs ?? 0);
  const dueMs = Math.max(runsSinceMs + spec.initialDelaySeconds * 1_000, disturbedMs, lastMs) + noticedMs;
  const lateMs = nowMs - dueMs - spec.periodSeconds * 1_000;
  return lateMs > noticedMs ? [`${probeType} has not been asked for ${nowMs - lastMs} ms`] : [];
}

function conditionFaults({ lifecycle, specs, runsSinceMs }: Truth, { conditions, probes }: Shown): readonly string[] {
  const ready = conditions.find(({ type }) => type === 'Ready');
  const resultOf = (type: ProbeType) => probes.find(({ probeType }) => probeType === type)?.result;
  const isUnknown = probes.some(({ result }) => result === 'unknown');
  const deciding: readonly ProbeType[] =
    lifecycle === 'static' && !specs.readiness ? ['startup', 'liveness'] : ['startup', 'readiness'];
  const isRed = deciding.some((type) => resultOf(type) === 'failure');
  const isDown = runsSinceMs === undefined;
  const isNeverAsked = lifecycle === 'static' && probes.length === 0;
  const expected = isDown || isRed ? 'False' : isUnknown || isNeverAsked ? 'Unknown' : 'True';
  const shown = probes.map(({ probeType, result }) => `${probeType} ${result}`).join(', ');
  return ready?.status === expected
    ? []
    : [`Ready is ${ready?.status} ${ready?.reason}, not ${expected}, with ${shown}`];
}

function restartFaults({ lifecycle, restarts }: Truth, { containerStatuses }: Shown): readonly string[] {
  const count = containerStatuses[0]?.restartCount;
  return lifecycle === 'reported' || count === restarts
    ? []
    : [`${count} restarts are shown, ${restarts} were reported`];
}
