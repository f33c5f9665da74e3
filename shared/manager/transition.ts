/** From what a worker step decided to the records, events and attempts that tell of it. Pure. */
import type { EventRecord, ProbeRecord } from '../core/records.ts';
import { probeName } from '../core/spec.ts';
import type { Result } from '../core/types.ts';
import type { CacheAction, Worker } from '../core/worker.ts';
import type { TimedAttempt } from '../prober/probe.ts';
import type { HeldProbe } from './held.ts';

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
  if (record.containerID === containerID && record.result === result) return record;
  return { ...withoutVerdict(record), containerID, result, version: record.version + 1, sinceMs: nowMs };
}

/** What no probe gave (a new container, one that does not run) carries none of an earlier probe's output. */
function withoutVerdict({ result: _, failureClass: __, ...record }: ProbeRecord): ProbeRecord {
  return { ...record, output: '' };
}

/** The worker has ended: its cached result goes, and that is a change. */
export function endedRecord(record: ProbeRecord, nowMs: number, specDigest: string): ProbeRecord {
  const { result: _, ...rest } = record;
  return { ...rest, ended: true, onHold: false, version: record.version + 1, sinceMs: nowMs, specDigest };
}

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
    after.ended !== before.ended ||
    isDenied(after) !== isDenied(before)
  );
}

/** Of the same item: what grows with every commit that matters. */
export const isNewer = (one: ProbeRecord, other: ProbeRecord): boolean =>
  one.version > other.version || (one.version === other.version && one.streak > other.streak);

/** A denied dial is shown from when it is denied until a probe gets through. */
export const isDenied = ({ failureClass }: ProbeRecord): boolean => failureClass === 'POLICY_DENIED';

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
  const result: Result | 'none' = after.result ?? 'none';
  const initial = isInitial(before, after);
  return {
    id: transitionId(after),
    uid: after.uid,
    timeMs: after.sinceMs,
    kind: 'transition',
    type: result === 'failure' && !initial ? 'Warning' : 'Normal',
    reason: 'ProbeResultChanged',
    message: initial
      ? `${probe.probeType} of ${after.container}: ${result}`
      : `${probe.probeType} of ${after.container}: ${before.result ?? 'none'} -> ${result}`,
    container: after.container,
    probeType: probe.probeType,
    containerID: after.containerID,
    ...(after.result && { result: after.result }),
    ...(before.result && { previousResult: before.result }),
    ...(initial && { initial }),
    count: 1,
    attempts,
  };
}

/** The first verdict of a container's probe: there is none before it, and it is not the end of the worker. */
export const isInitial = (before: Pick<ProbeRecord, 'result'>, after: Pick<ProbeRecord, 'result'>): boolean =>
  before.result === undefined && after.result !== undefined;

/** The attempts of the run that the latest one belongs to. */
export function withAttempts(
  earlier: readonly TimedAttempt[],
  sameRun: boolean,
  latest: readonly TimedAttempt[],
): readonly TimedAttempt[] {
  return [...(sameRun ? earlier : []), ...latest].slice(-attemptsMax);
}
