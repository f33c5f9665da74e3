/**
 * What is shown of a probe: only what was observed. Until the first verdict, and while a probe cannot be made, its
 * result is `unknown` with a reason. kubelet's initial values stay inside the engine (difference 22).
 */

import type { ProbeRecord, ProbeUnknown, TargetRecord, TargetState } from '../spec/records.ts';
import { type ProbeName, specProbes } from '../spec/spec.ts';
import type { Result } from '../spec/types.ts';

/**
 * `Quarantined`: the stored item cannot be read. `Late`, `ProberDegraded`: read from the beat of the prober, never
 * stored.
 */
export type UnknownReason = ProbeUnknown['reason'] | 'NotYetProbed' | 'Quarantined' | 'Late' | 'ProberDegraded';

export type Shown =
  | { readonly kind: 'verdict'; readonly result: Result }
  | { readonly kind: 'unknown'; readonly reason: UnknownReason; readonly stored?: ProbeUnknown };

/** `containerID`: of the present container. An item of another container says nothing about it. */
export function shownOf(record: ProbeRecord | undefined, containerID: string): Shown {
  if (!record) return { kind: 'unknown', reason: 'Quarantined' };
  if (record.unknown) return { kind: 'unknown', reason: record.unknown.reason, stored: record.unknown };
  if (record.result === undefined || record.containerID !== containerID)
    return { kind: 'unknown', reason: 'NotYetProbed' };
  return { kind: 'verdict', result: record.result };
}

/**
 * Whether the worker of a probe in the spec has ended, or ends without another verdict because DELETE has stopped it. A
 * worker that ended because its probe had left the spec starts again: once the probe is back it has a worker without a
 * verdict, even before a holder has noticed.
 */
export function hasEnded(target: TargetRecord, record: ProbeRecord | undefined): boolean {
  if (!record) return false;
  if (isStopped(target, record)) return true;
  return record.ended && (record.specDigest !== noSpecDigest || target.deletionTimestampMs !== undefined);
}

/** Termination stops the liveness and startup probes of a target. */
export const isStopped = (
  { deletionTimestampMs }: Pick<TargetRecord, 'deletionTimestampMs'>,
  { probeType }: Pick<ProbeRecord, 'probeType'>,
): boolean => deletionTimestampMs !== undefined && probeType !== 'readiness';

/** The item with what counts for its container: of a worker that ended with its target, what it had found. */
export const countedOf = (record: ProbeRecord): ProbeRecord => ({ ...record, ...record.endedWith });

/** Digest of a worker that ended because its probe left the spec, or with its target. */
export const noSpecDigest = '';

/** The published result of an item; undefined: there is no verdict, or the worker has ended. */
export const publishedResult = ({ unknown, result }: Pick<ProbeRecord, 'unknown' | 'result'>): Result | undefined =>
  unknown ? 'unknown' : result;

export type Unknowns = ReadonlyMap<ProbeName, UnknownReason>;

/**
 * The probes of a target without a known result, in the order of the spec. A worker that has ended makes none known:
 * what had not been seen before is not seen afterwards.
 */
export function unknownsOf(
  { target, probes }: Pick<TargetState, 'target' | 'probes'>,
  containerIDOf: (container: string) => string,
): Unknowns {
  const unknowns = new Map<ProbeName, UnknownReason>();
  for (const probe of specProbes(target.spec)) {
    const record = probes[probe.name];
    const shown = shownOf(record && countedOf(record), containerIDOf(probe.container.spec.name));
    if (shown.kind === 'unknown') unknowns.set(probe.name, shown.reason);
  }
  return unknowns;
}
