/** Reports on containers: the changes that a status report and a reported restart make to the state read. Pure. */
import { statusNamed } from '../../core/kubelet/pod-status.ts';
import { incarnationOf, restarted, staticContainerID } from '../../core/kubelet/static-lifecycle.ts';
import { at, type FieldProblem, unless } from '../../core/spec/field-problem.ts';
import type { Incarnation, ReportRecord, TargetRecord } from '../../core/spec/records.ts';
import { placedContainers } from '../../core/spec/spec.ts';
import { sameValue } from '../../lib/equality.ts';
import { ownProperty } from '../../lib/own-property.ts';
import { encodeReport } from '../../store/records/items.ts';
import { type TargetAddress, targetKey } from '../../store/records/keys.ts';
import type { Condition } from '../../store/store.ts';
import { type Checked, invalidFields, ok, problem } from '../http/problem.ts';
import type { Report } from '../schema/status-report.ts';
import type { Plan } from './change-target.ts';
import { noSuchTarget, type StoredTarget } from './stored-target.ts';
import { targetUpdate, terminating } from './target-plans.ts';

const notReported = problem(
  409,
  'not-reported',
  'The target has lifecycle static: only restarts of its containers are reported, by POST …/restarted.',
);

/** PUT …/status: the new report, on condition that the target has not changed since it was read. */
export function planReport(address: TargetAddress, report: Report, nowMs: number) {
  return (stored: StoredTarget | undefined): Plan => {
    if (!stored) return noSuchTarget;
    const { target, report: before } = stored;
    if (target.spec.lifecycle !== 'reported') return notReported;
    const unknown = unknownContainers(target, report);
    if (unknown.length > 0) return invalidFields(unknown);
    const record: ReportRecord = {
      ...report,
      uid: target.uid,
      version: nextVersion(stored),
      reportedAtMs: nowMs,
      beganAtMs: beganAtMs(stored, report, nowMs),
    };
    if (before && sameValue({ ...before, version: 0, reportedAtMs: 0 }, { ...record, version: 0, reportedAtMs: 0 }))
      return { kind: 'unchanged', stored };
    return {
      kind: 'write',
      operations: [
        { kind: 'check', key: targetKey(address), if: [{ kind: 'equals', attribute: 'uid', value: target.uid }] },
        { kind: 'put', item: encodeReport(address, record), if: sameReport(stored) },
      ],
      stored: { ...stored, report: record },
      created: false,
    };
  };
}

/** For every container of the spec, and for those that have left it and whose probes are still stored. */
function beganAtMs({ target, probes, report: before }: StoredTarget, report: Report, nowMs: number) {
  const { containers, initContainers } = target.spec;
  const ofSpec = [...containers, ...initContainers].map(({ name }) => name);
  const names = new Set([...ofSpec, ...Object.values(probes).map(({ container }) => container)]);
  const entries = [...names].flatMap((name) => {
    const [was, is] = [before && statusNamed(before, name), statusNamed(report, name)];
    if (is?.state?.kind === 'running') return [];
    if ((was?.containerID ?? '') !== (is?.containerID ?? '')) return [[name, nowMs] as const];
    const ms = was?.state?.kind === 'running' ? was.state.startedAtMs : ownProperty(before?.beganAtMs ?? {}, name);
    return ms === undefined ? [] : [[name, ms] as const];
  });
  return Object.fromEntries(entries);
}

/** Greater than what status-sync has taken in, even if the previous report cannot be read. */
const nextVersion = ({ report, status }: StoredTarget): number =>
  Math.max(report?.version ?? 0, status?.observedReportVersion ?? 0) + 1;

function sameReport({ report, hasReportItem }: StoredTarget): readonly Condition[] {
  if (!report) return [{ kind: hasReportItem ? 'exists' : 'notExists' }];
  return [
    { kind: 'equals', attribute: 'uid', value: report.uid },
    { kind: 'equals', attribute: 'version', value: report.version },
  ];
}

function unknownContainers({ spec }: TargetRecord, report: Report): readonly FieldProblem[] {
  const unknownIn = (
    field: 'containerStatuses' | 'initContainerStatuses',
    known: readonly { readonly name: string }[],
  ) =>
    report[field].flatMap(({ name }, index) =>
      unless(
        known.some((container) => container.name === name),
        at(at(`/status/${field}`, index), 'name'),
        'must be the name of a container of the spec',
      ),
    );
  return [
    ...unknownIn('containerStatuses', spec.containers),
    ...unknownIn('initContainerStatuses', spec.initContainers),
  ];
}

const notStatic = problem(
  409,
  'not-static',
  'The target has lifecycle reported: report its new container by PUT …/status, with its containerID.',
);

/**
 * `container`: may be absent if the target has only one. `containerID`: of the container that was restarted, so that a
 * repetition changes nothing.
 */
export type Restart = { readonly container?: string | undefined; readonly containerID?: string | undefined };

/** POST …/restarted: the container's next incarnation runs from now on. */
export function planRestart(address: TargetAddress, restart: Restart, nowMs: number) {
  return (stored: StoredTarget | undefined): Plan => {
    if (!stored) return noSuchTarget;
    const { target } = stored;
    if (target.spec.lifecycle !== 'static') return notStatic;
    if (target.deletionTimestampMs !== undefined) return terminating;
    const named = containerOf(target, restart.container);
    if (named.kind === 'problem') return named;
    const present = incarnationOf(target, named.value);
    const containerID = staticContainerID(target.uid, named.value, present);
    if ((restart.containerID ?? containerID) !== containerID) return { kind: 'unchanged', stored };
    return next(address, stored, { [named.value]: restarted(present, nowMs) });
  };
}

function next(
  address: TargetAddress,
  stored: StoredTarget,
  begun: { readonly [container: string]: Incarnation },
): Plan {
  const { target } = stored;
  const after: TargetRecord = {
    ...target,
    resourceVersion: target.resourceVersion + 1,
    incarnations: { ...target.incarnations, ...begun },
  };
  const operations = [targetUpdate(address, target, after)];
  return { kind: 'write', operations, stored: { ...stored, target: after }, created: false };
}

/** Ordinary init containers do not run beside the others, so they are never restarted. */
function containerOf({ spec }: TargetRecord, wanted: string | undefined): Checked<string> {
  const names = placedContainers(spec).flatMap(({ kind, spec: { name } }) => (kind === 'init' ? [] : [name]));
  const [only, ...more] = names;
  if (wanted === undefined && only !== undefined && more.length === 0) return ok(only);
  if (wanted !== undefined && names.includes(wanted)) return ok(wanted);
  return invalidFields([{ pointer: '/container', detail: `must be one of ${names.join(', ')}` }]);
}
