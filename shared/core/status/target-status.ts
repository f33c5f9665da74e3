/**
 * The status of a target as it is stored, shown and published: the observed state, and conditions that are Unknown
 * where nothing was observed (difference 22).
 */
import {
  containersReadyCondition,
  isCompared,
  podInitializedCondition,
  podReadyCondition,
} from '../kubelet/conditions.ts';
import { parseContainerID } from '../kubelet/container-id.ts';
import { statusesOf, statusNamed } from '../kubelet/pod-status.ts';
import { nextStatus, type StatusStep } from '../kubelet/status-update.ts';
import type { ProbeRecord, StatusRecord, TargetRecord, TargetState } from '../spec/records.ts';
import { type ProbeName, specProbes, type TargetSpec } from '../spec/spec.ts';
import type { Condition, ContainerStatus, PodStatus } from '../spec/types.ts';
import { newProbeRecord, type Observed, observe, unreported } from './observed.ts';
import { type Unknowns, unknownsOf } from './shown.ts';

/**
 * The whole status: the observed state, its conditions, and the effect of the previous status (times, illegal
 * transitions).
 */
export function composeStatus(state: TargetState, nowMs: number): PodStatus {
  const old = asOfSpec(state.target.spec, state.status.status);
  const step = statusStep(state, old, nowMs);
  // A refused report leaves the containers as they were taken last. What their probes say is shown all the same.
  const taken = step.kind === 'refused' ? statusStep(asTakenLast(state, old), old, nowMs) : step;
  return taken.kind === 'changed' ? taken.status : withForeign(old, foreignConditions(state));
}

function statusStep(state: TargetState, old: PodStatus, nowMs: number): StatusStep {
  const observed = observe(state);
  const unknowns = unknownsOf(state, containerIDsOf(observed));
  const next: PodStatus = { ...observedStatus(observed), conditions: conditionsBy(state, { observed, unknowns }) };
  const reported = state.report && new Set(statusesOf(state.report).map(({ name }) => name));
  return nextStatus({ spec: state.target.spec, old, next, nowMs, ...(reported && { reported }) });
}

/**
 * A spec changes in place (difference 3), a Pod's containers never do: kubelet's step refuses every status after one
 * whose init containers are not those of the spec.
 */
function asOfSpec({ initContainers }: TargetSpec, status: PodStatus): PodStatus {
  const before = status.initContainerStatuses;
  const statuses = initContainers.map(({ name }) => before.find((each) => each.name === name) ?? unreported(name));
  return { ...status, initContainerStatuses: statuses };
}

/** As in a report, `ready` and `started` are left to the probes: the shown ones would outlast another verdict. */
function asTakenLast({ report, ...state }: TargetState, status: PodStatus): TargetState {
  if (!report) return state;
  const asReported = (shown: ContainerStatus): ContainerStatus => ({ ...shown, ready: false, started: null });
  const initContainerStatuses = status.initContainerStatuses.map(asReported);
  const containerStatuses = status.containerStatuses.map(asReported);
  return { ...state, report: { ...report, phase: status.phase, initContainerStatuses, containerStatuses } };
}

/**
 * Adds conditions of other owners. A change of one alone does not count as a change for kubelet, but is shown all the
 * same.
 */
function withForeign(status: PodStatus, foreign: readonly Condition[]): PodStatus {
  const kept = status.conditions.filter(({ type }) => isCompared(type));
  return { ...status, conditions: [...foreign.filter(({ type }) => !isCompared(type)), ...kept] };
}

/** The status of a target at its registration: every static container runs, no probe has been made. */
export function initialStatus(target: TargetRecord, nowMs: number): StatusRecord {
  const blank: StatusRecord = {
    uid: target.uid,
    version: 1,
    observedResourceVersion: target.resourceVersion,
    observedReportVersion: 0,
    status: { phase: 'Pending', conditions: [], initContainerStatuses: [], containerStatuses: [] },
    restartRequests: {},
    acked: {},
    outbox: [],
  };
  const probes = Object.fromEntries(
    specProbes(target.spec).map((probe) => [probe.name, newProbeRecord(target.uid, probe)]),
  );
  return { ...blank, status: composeStatus({ target, status: blank, probes }, nowMs) };
}

/**
 * The conditions of a target with the probe results of its items, except that the probes in `late` also count as
 * unknown.
 */
export function conditionsOf(state: TargetState, late: Unknowns): readonly Condition[] {
  const observed = observe(state);
  const unknowns = new Map([...unknownsOf(state, containerIDsOf(observed)), ...late]);
  return conditionsBy(state, { observed, unknowns });
}

type Seen = { readonly observed: Observed; readonly unknowns: Unknowns };

/**
 * Foreign conditions come first. A condition is Unknown unless it would be False even if every unknown probe succeeded.
 */
function conditionsBy(state: TargetState, { observed, unknowns }: Seen): readonly Condition[] {
  const { target } = state;
  const foreign = foreignConditions(state);
  const readyBy = (seen: Observed) => {
    const input = conditionsInput(target, seen);
    return [containersReadyCondition(input), podReadyCondition(input, foreign)];
  };
  const doubt = doubtOf(target, unknowns);
  const ready = doubt
    ? readyBy(observe(hopeful(state, { observed, unknowns }))).map((best) => doubted(best, doubt))
    : readyBy(observed);
  return [...foreign, initializedBy(state, observed), ...ready];
}

/**
 * kubelet starts ordinary containers once every sidecar has started, so a running one proves that the pod is
 * initialized. A static container counts as running from its registration on and proves nothing.
 */
function initializedBy({ target, status }: TargetState, observed: Observed): Condition {
  const input = conditionsInput(target, observed);
  const { spec } = input;
  const judged = spec.lifecycle === 'static' ? { ...input, spec: { ...spec, containers: [] } } : input;
  return podInitializedCondition(judged, status.status.conditions);
}

/** The state if every unknown probe had succeeded. */
function hopeful(state: TargetState, { observed, unknowns }: Seen): TargetState {
  const containerIDOf = containerIDsOf(observed);
  const probes: Record<ProbeName, ProbeRecord> = { ...state.probes };
  for (const probe of specProbes(state.target.spec)) {
    if (!unknowns.has(probe.name)) continue;
    const { endedWith: _, ...record } = state.probes[probe.name] ?? newProbeRecord(state.target.uid, probe);
    probes[probe.name] = { ...record, containerID: containerIDOf(probe.container.spec.name), result: 'success' };
  }
  return { ...state, probes };
}

type Doubt = { readonly reason: string; readonly message: string };

/**
 * Why the readiness of the target is not known. A target without any probe and without a runtime that reports has no
 * result at all.
 */
function doubtOf({ spec }: TargetRecord, unknowns: Unknowns): Doubt | undefined {
  if (spec.lifecycle === 'static' && specProbes(spec).length === 0)
    return { reason: 'NoProbes', message: 'no container has a probe' };
  const reasons = [...unknowns.values()];
  const reason = reasons.find((each) => each !== 'NotYetProbed') ?? reasons[0];
  return reason && { reason, message: `probes with unknown result: [${[...unknowns.keys()].join(' ')}]` };
}

const doubted = (best: Condition, doubt: Doubt): Condition =>
  best.status === 'False' ? best : { ...best, status: 'Unknown', ...doubt };

const containerIDsOf =
  (observed: Observed) =>
  (container: string): string =>
    parseContainerID(statusNamed(observed, container)?.containerID ?? '');

const conditionsInput = (target: TargetRecord, observed: Observed) => ({
  spec: target.spec,
  generation: target.generation,
  containerStatuses: statusesOf(observed),
  phase: observed.phase,
});

const observedStatus = ({
  phase,
  initContainerStatuses,
  containerStatuses,
}: Observed): Omit<PodStatus, 'conditions'> => ({
  phase,
  initContainerStatuses,
  containerStatuses,
});

const ownTypes: readonly string[] = ['Initialized', 'ContainersReady', 'Ready'];

/** Conditions of other owners: readiness gates come with the report. */
const foreignConditions = ({ report }: TargetState): readonly Condition[] =>
  (report?.conditions ?? []).filter(({ type }) => !ownTypes.includes(type));
