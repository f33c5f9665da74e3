/**
 * What a liveness or startup failure asks of others: a restart, one request per containerID, published until another containerID is there.
 */
import { observe } from './observed.ts';
import { ownOf } from './own.ts';
import type { Incarnation, OutboxEvent, RestartRequest, StatusRecord, TargetRecord, TargetState } from './records.ts';
import { containerShouldRestart } from './restart-policy.ts';
import { type PlacedContainer, placedContainers, probeOf } from './spec.ts';
import { clockSkewMsMax, restarts, staticContainerID } from './static-lifecycle.ts';
import type { ContainerStatus, ProbeType } from './types.ts';

/** A restart request is published again after this, then doubling up to the maximum, until the containerID changes. */
export const requestAgainFirstMs = 10_000;
export const requestAgainMaxMs = 300_000;

/** A running container whose liveness or startup probe has failed. */
export type Failing = {
  readonly container: PlacedContainer;
  readonly status: ContainerStatus;
  readonly probeType: ProbeType;
};

type Requests = { readonly open: StatusRecord['restartRequests']; readonly outbox: readonly OutboxEvent[] };
type AdvanceRequests = {
  readonly state: TargetState;
  readonly failing: readonly Failing[];
  readonly incarnations: StatusRecord['incarnations'];
  readonly nowMs: number;
};

/** One request per failed containerID, published until another containerID is there. */
export function advanceRequests({ state, failing, incarnations, nowMs }: AdvanceRequests): Requests {
  const { target, status } = state;
  const open: Record<string, RestartRequest> = {};
  const outbox: OutboxEvent[] = [];
  for (const entry of failing) {
    const name = entry.container.spec.name;
    const known = ownOf(status.restartRequests, name);
    const request =
      known?.containerID === entry.status.containerID
        ? known
        : newRequest(target, entry, ownOf(incarnations, name), nowMs);
    if (target.spec.lifecycle === 'static' && !restarts({ target, container: entry.container })) continue;
    open[name] = request;
  }
  // A container that waits for its back-off, or that somebody has stopped and not started again, is no longer failing, but nobody has
  // answered its request. Of a terminating target nothing is restarted any more.
  const waiting = target.deletionTimestampMs === undefined ? Object.entries(status.restartRequests) : [];
  for (const [name, request] of waiting) {
    const isWaiting = ownOf(incarnations, name)?.restartAtMs !== undefined || isHalfDone(state, name, request);
    if (!Object.hasOwn(open, name) && isWaiting) open[name] = request;
  }
  for (const [name, request] of Object.entries(open)) {
    if (!isRequestDue(request, nowMs)) continue;
    outbox.push(requestEvent(target, name, request, nowMs));
    open[name] = { ...request, published: request.published + 1, nextAtMs: nowMs + againAfterMs(request.published) };
    if (answered(target, name, request, incarnations)) delete open[name];
  }
  return { open, outbox };
}

/** Reported as not running any more, with no other ID yet, and its policy has it started again: kubelet would start it now. */
function isHalfDone(state: TargetState, name: string, { containerID, probeType }: RestartRequest): boolean {
  const { lifecycle, restartPolicy } = state.target.spec;
  const container = placedContainers(state.target.spec).find(({ spec }) => spec.name === name);
  if (lifecycle !== 'reported' || !container || !probeOf(container.spec, probeType)) return false;
  const { phase, containerStatuses, initContainerStatuses } = observe(state);
  if (phase === 'Failed' || phase === 'Succeeded') return false;
  const status = [...containerStatuses, ...initContainerStatuses].find((each) => each.name === name);
  // A container that is being created has no ID yet.
  if (!status || (status.containerID !== containerID && status.containerID !== '')) return false;
  const policy = container.kind === 'restartableInit' ? 'Always' : restartPolicy;
  switch (status.state?.kind) {
    case 'terminated':
      return containerShouldRestart(container.spec, policy, status.state.exitCode);
    case 'waiting':
      return true;
    case 'running':
    case undefined:
      return false;
  }
}

/** Also where its time lies so far ahead that only a wrong clock can have set it. */
export const isRequestDue = ({ nextAtMs }: RestartRequest, nowMs: number): boolean =>
  nextAtMs <= nowMs || nextAtMs > nowMs + requestAgainMaxMs + clockSkewMsMax;

const againAfterMs = (published: number): number =>
  Math.min(requestAgainMaxMs, requestAgainFirstMs * 2 ** Math.min(published, 10));

function answered(
  target: TargetRecord,
  container: string,
  request: RestartRequest,
  incarnations: StatusRecord['incarnations'],
): boolean {
  const incarnation = ownOf(incarnations, container);
  return (
    incarnation !== undefined &&
    staticContainerID(target.uid, container, incarnation.restartCount) !== request.containerID
  );
}

function newRequest(
  target: TargetRecord,
  { container, status, probeType }: Failing,
  incarnation: Incarnation | undefined,
  nowMs: number,
): RestartRequest {
  const probe = probeOf(container.spec, probeType);
  return {
    // Of a reported container the ID is others' choice: two targets may say the same.
    id: `${target.uid}/${status.name}/restart/${status.containerID}`,
    containerID: status.containerID,
    probeType,
    requestedAtMs: nowMs,
    ...(incarnation?.restartAtMs !== undefined && { notBeforeMs: incarnation.restartAtMs }),
    terminationGracePeriodSeconds: probe?.terminationGracePeriodSeconds ?? target.spec.terminationGracePeriodSeconds,
    message: killMessage(target, container, probeType),
    published: 0,
    nextAtMs: nowMs,
  };
}

/** kubelet's text of the decision (pkg/kubelet/kuberuntime/kuberuntime_manager.go: computePodActions). */
export function killMessage(target: TargetRecord, container: PlacedContainer, probeType: ProbeType): string {
  const message = `Container ${container.spec.name} failed ${probeType} probe`;
  return restarts({ target, container }) ? `${message}, will be restarted` : message;
}

function requestEvent(target: TargetRecord, container: string, request: RestartRequest, nowMs: number): OutboxEvent {
  const { id, containerID, probeType, message, terminationGracePeriodSeconds, notBeforeMs } = request;
  const placed = placedContainers(target.spec).find(({ spec }) => spec.name === container);
  return {
    id,
    detailType: 'Container Restart Requested',
    timeMs: nowMs,
    detail: {
      container,
      containerID,
      probeType,
      message,
      restartPolicy: placed?.spec.restartPolicy ?? target.spec.restartPolicy,
      terminationGracePeriodSeconds,
      ...(notBeforeMs !== undefined && { notBeforeMs }),
    },
  };
}
