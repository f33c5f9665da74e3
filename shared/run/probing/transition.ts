/** From what a worker step decided to the records, events and attempts that tell of it. Pure. */
import type { EventRecord, ProbeRecord, ProbeUnknown } from '../../core/records.ts';
import { publishedResult } from '../../core/shown.ts';
import { probeName } from '../../core/spec.ts';
import type { CacheAction, Worker } from '../../core/worker.ts';
import type { TimedAttempt } from '../../prober/probe.ts';
import type { HeldProbe } from './held-target.ts';

/** Attempts kept behind a transition. */
export const attemptsMax = 10;

/**
 * A record after one action on the results cache: kubelet's Set, whose version grows only when something changed. Of a new container the
 * ID is stored and no result: kubelet's initial value is not something that was seen (difference 22).
 */
export function withAction(record: ProbeRecord, action: CacheAction, nowMs: number): ProbeRecord {
  if (action.kind === 'remove') return record;
  const { containerID, result } = action;
  if (action.initial) return withoutVerdict({ ...record, containerID });
  const { unknown, ...known } = record;
  if (!unknown && record.containerID === containerID && record.result === result) return record;
  return { ...withoutVerdict(known), containerID, result, version: record.version + 1, sinceMs: nowMs };
}

/** The record of a probe that cannot be made. Only another reason or class is a change: a message may differ with each try. */
export function withUnknown(record: ProbeRecord, unknown: ProbeUnknown, nowMs: number): ProbeRecord {
  const { reason, failureClass } = record.unknown ?? {};
  if (reason === unknown.reason && failureClass === unknown.failureClass) return record;
  return { ...record, unknown, version: record.version + 1, sinceMs: nowMs };
}

/** What no probe gave (a new container, one that does not run) carries none of an earlier probe's output. */
function withoutVerdict({ result: _, failureClass: __, ...record }: ProbeRecord): ProbeRecord {
  return { ...record, output: '' };
}

/** The worker has ended: its cached result goes, and that is a change. */
export function endedRecord(record: ProbeRecord, nowMs: number, specDigest: string): ProbeRecord {
  const { result: _, unknown: __, ...rest } = record;
  return { ...rest, ended: true, onHold: false, version: record.version + 1, sinceMs: nowMs, specDigest };
}

/** An ended worker begins anew. That there is one again changes what its container counts as, so it is a version of its own. */
export const begunAnew = (record: ProbeRecord, nowMs: number): ProbeRecord =>
  record.ended ? { ...record, ended: false, version: record.version + 1, sinceMs: nowMs } : record;

/** The record with the worker's state; a new kind of result begins a new streak. Run lengths are saturated at their threshold. */
export function withWorker(
  record: ProbeRecord,
  worker: Worker,
  probe: Pick<HeldProbe, 'workerSpec' | 'specDigest'>,
): ProbeRecord {
  const { lastResult: _, ...rest } = record;
  // A hold sets the run back to 0, so what was counted before it must not count again after a crash.
  const broke = worker.lastResult !== record.lastResult || (worker.onHold && !record.onHold);
  return {
    ...rest,
    onHold: worker.onHold,
    resultRun: saturatedRun(worker, probe.workerSpec),
    streak: record.streak + (broke ? 1 : 0),
    specDigest: probe.specDigest,
    ...(worker.lastResult && { lastResult: worker.lastResult }),
  };
}

export function saturatedRun(worker: Worker, spec: HeldProbe['workerSpec']): number {
  const threshold = worker.lastResult === 'failure' ? spec.failureThreshold : spec.successThreshold;
  return Math.min(worker.resultRun, threshold);
}

/** What has to be durable before it counts: a result, a hold, the break of a streak. A longer run is not. */
export function mustCommit(before: ProbeRecord, after: ProbeRecord): boolean {
  return (
    after.version !== before.version ||
    after.containerID !== before.containerID ||
    after.streak !== before.streak ||
    after.onHold !== before.onHold ||
    after.ended !== before.ended
  );
}

/** Of the same item: what grows with every commit that matters. */
export const isNewer = (one: ProbeRecord, other: ProbeRecord): boolean =>
  one.version > other.version || (one.version === other.version && one.streak > other.streak);

/** Sorts by time; the rest makes a repetition write the same item. */
export const eventId = (timeMs: number, what: string): string => `${String(timeMs).padStart(14, '0')}#${what}`;

const versionDigits = 10;

/** The EVENT that was written together with the record's present version; it sorts after what kubelet recorded in the same moment. */
export const transitionId = ({ container, probeType, sinceMs, version }: ProbeRecord): string =>
  eventId(sinceMs, `${probeName(container, probeType)}#~${String(version).padStart(versionDigits, '0')}`);

type Transition = {
  readonly probe: HeldProbe;
  readonly before: ProbeRecord;
  readonly after: ProbeRecord;
  readonly attempts: readonly TimedAttempt[];
};

export function transitionEvent({ probe, before, after, attempts }: Transition): EventRecord {
  const [previousResult, result] = [publishedResult(before), publishedResult(after)];
  const initial = isInitial(before, after);
  return {
    id: transitionId(after),
    uid: after.uid,
    timeMs: after.sinceMs,
    kind: 'transition',
    type: result === 'unknown' || (result === 'failure' && !initial) ? 'Warning' : 'Normal',
    reason: 'ProbeResultChanged',
    message: `${probe.probeType} of ${after.container}: ${changeText(before, after)}`,
    container: after.container,
    probeType: probe.probeType,
    containerID: after.containerID,
    ...(result && { result }),
    ...(previousResult && { previousResult }),
    ...(initial && { initial }),
    count: 1,
    attempts,
  };
}

function changeText(before: Published, after: Published): string {
  const to = publishedResult(after) ?? 'none';
  const change = isInitial(before, after) ? to : `${publishedResult(before) ?? 'none'} -> ${to}`;
  return after.unknown ? `${change} (${after.unknown.reason}: ${after.unknown.message})` : change;
}

type Published = Pick<ProbeRecord, 'result' | 'unknown'>;

/** The first thing that is known of a container's probe: there is nothing before it, and it is not the end of the worker. */
export const isInitial = (before: Published, after: Published): boolean =>
  publishedResult(before) === undefined && publishedResult(after) !== undefined;

/** The attempts of the run that the latest one belongs to. */
export function withAttempts(
  earlier: readonly TimedAttempt[],
  sameRun: boolean,
  latest: readonly TimedAttempt[],
): readonly TimedAttempt[] {
  return [...(sameRun ? earlier : []), ...latest].slice(-attemptsMax);
}
