/**
 * The restart requests that follow from a liveness or startup failure. A request is published at once, and again after
 * kubelet's crash-loop back-off (pkg/kubelet/kubelet.go: 10 s, doubled up to 300 s) while the container fails.
 */

import { ownProperty } from '../../lib/own-property.ts';
import { statusNamed } from '../kubelet/pod-status.ts';
import { containerShouldRestart } from '../kubelet/restart-policy.ts';
import { isToBeRestarted } from '../kubelet/static-lifecycle.ts';
import type { OutboxEvent, RestartRequest, StatusRecord, TargetRecord, TargetState } from '../spec/records.ts';
import { type PlacedContainer, placedContainers, probeName, probeOf } from '../spec/spec.ts';
import type { ContainerStatus, ProbeType, Result } from '../spec/types.ts';
import { observe } from './observed.ts';

/** A restart request is published again after this, then after twice as long each time, up to the maximum. */
export const requestAgainFirstMs = 10_000;
export const requestAgainMaxMs = 300_000;

/** If the clocks of two processes differ by more, one of them is wrong. */
export const clockSkewMsMax = 60_000;

/** A running container whose liveness or startup probe has failed. */
export type Failing = {
  readonly container: PlacedContainer;
  readonly status: ContainerStatus;
  readonly probeType: ProbeType;
};

type Requests = { readonly open: StatusRecord['restartRequests']; readonly outbox: readonly OutboxEvent[] };

/** The open requests after `nowMs`, and which of them are to be published. */
export function advanceRequests(state: TargetState, failing: readonly Failing[], nowMs: number): Requests {
  const { target, status } = state;
  const open = new Map<string, RestartRequest>();
  const outbox: OutboxEvent[] = [];
  for (const entry of failing) {
    if (target.spec.lifecycle === 'static' && !isToBeRestarted(target.spec, entry.container)) continue;
    const { name } = entry.container.spec;
    open.set(name, requestOf(target, entry, { known: ownProperty(status.restartRequests, name), nowMs }));
  }
  // A terminating target restarts no container.
  const others = target.deletionTimestampMs === undefined ? Object.entries(status.restartRequests) : [];
  for (const [name, request] of others) {
    if (open.has(name)) continue;
    const outlook = outlookOf(state, name, request);
    if (outlook === 'waits') open.set(name, request);
    if (outlook === 'answered') open.set(name, { ...request, answered: true });
    if (outlook === 'recovered') outbox.push(recoveredEvent(state, name, request, nowMs));
  }
  for (const [name, request] of open) {
    if (!isRequestDue(request, nowMs)) continue;
    outbox.push(requestEvent(target, name, request, request.published + 1, nowMs));
    const published = request.published + 1;
    open.set(name, { ...request, published, nextAtMs: nowMs + againAfterMs(request.published) });
  }
  return { open: Object.fromEntries(open), outbox };
}

type Known = { readonly known: RestartRequest | undefined; readonly nowMs: number };

/**
 * The same request while the container fails, also under a new ID: an episode ends with a success, not with a restart
 * that did not help.
 */
function requestOf(target: TargetRecord, entry: Failing, { known, nowMs }: Known): RestartRequest {
  const { containerID } = entry.status;
  const isStatic = target.spec.lifecycle === 'static';
  // The failing probe may have left the spec of a static container while another one fails: the episode is that one's
  // now.
  if (known?.containerID === containerID && (!isStatic || known.probeType === entry.probeType)) return known;
  const request = newRequest(target, entry, nowMs);
  if (!known || !isStatic) return request;
  const { requestedAtMs, published, nextAtMs } = known;
  return { ...request, requestedAtMs, published, nextAtMs };
}

/** How the request of a container that is not failing now continues. */
type Outlook = 'waits' | 'answered' | 'recovered' | 'over';

function outlookOf(state: TargetState, name: string, request: RestartRequest): Outlook {
  const { lifecycle } = state.target.spec;
  if (lifecycle === 'reported') return isHalfDone(state, name, request) ? 'waits' : 'over';
  const container = placedContainers(state.target.spec).find(({ spec }) => spec.name === name);
  if (!container || !probeOf(container.spec, request.probeType)) return 'over';
  return verdictOf(state, name, request.probeType) === 'success' ? 'recovered' : 'answered';
}

/** The last verdict of the probe for the container's present incarnation. */
function verdictOf(state: TargetState, name: string, probeType: ProbeType): Result | undefined {
  const record = state.probes[probeName(name, probeType)];
  return record?.containerID === statusOf(state, name)?.containerID ? record?.result : undefined;
}

const statusOf = (state: TargetState, name: string): ContainerStatus | undefined => statusNamed(observe(state), name);

/** Reported as no longer running, without a new ID, and its policy restarts it: kubelet would start it now. */
function isHalfDone(state: TargetState, name: string, { containerID, probeType }: RestartRequest): boolean {
  const { restartPolicy } = state.target.spec;
  const container = placedContainers(state.target.spec).find(({ spec }) => spec.name === name);
  if (!container || !probeOf(container.spec, probeType)) return false;
  const { phase } = observe(state);
  if (phase === 'Failed' || phase === 'Succeeded') return false;
  const status = statusOf(state, name);
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

/** When the request is due for a look, ms since the epoch; undefined: it waits for a verdict. */
export function requestDueMs(request: RestartRequest, nowMs: number): number | undefined {
  if (request.answered) return undefined;
  return isRequestDue(request, nowMs) ? Math.min(request.nextAtMs, nowMs) : request.nextAtMs;
}

/** A time too far ahead counts as due: only a wrong clock can have set it. */
const isRequestDue = ({ nextAtMs, answered }: RestartRequest, nowMs: number): boolean =>
  !answered && (nextAtMs <= nowMs || nextAtMs > nowMs + requestAgainMaxMs + clockSkewMsMax);

/** Further doublings would only overflow. */
const doublingsMax = 10;

const againAfterMs = (published: number): number =>
  Math.min(requestAgainMaxMs, requestAgainFirstMs * 2 ** Math.min(published, doublingsMax));

function newRequest(target: TargetRecord, { container, status, probeType }: Failing, nowMs: number): RestartRequest {
  const probe = probeOf(container.spec, probeType);
  return {
    // Two targets may report the same containerID.
    id: `${target.uid}/${status.name}/restart/${status.containerID}`,
    containerID: status.containerID,
    probeType,
    requestedAtMs: nowMs,
    terminationGracePeriodSeconds: probe?.terminationGracePeriodSeconds ?? target.spec.terminationGracePeriodSeconds,
    message: restartMessage(target, container, probeType),
    published: 0,
    nextAtMs: nowMs,
  };
}

/**
 * kubelet's text of the decision where a runtime carries it out (pkg/kubelet/kuberuntime: computePodActions in
 * kuberuntime_manager.go, computeInitContainerActions in kuberuntime_container.go, whose text says nothing of a
 * restart). With lifecycle `static` a restart is only requested.
 */
export function restartMessage({ spec }: TargetRecord, container: PlacedContainer, probeType: ProbeType): string {
  const isRegular = container.kind === 'container';
  const message = `${isRegular ? 'Container' : 'Init container'} ${container.spec.name} failed ${probeType} probe`;
  if (!isToBeRestarted(spec, container)) return message;
  if (spec.lifecycle === 'static') return `${message}, restart requested`;
  return isRegular ? `${message}, will be restarted` : message;
}

/** The request as it is published: `attempt` counts from 1. */
export function requestEvent(
  target: TargetRecord,
  container: string,
  request: RestartRequest,
  attempt: number,
  nowMs: number,
): OutboxEvent & { readonly detailType: 'Container Restart Requested' } {
  const { id, containerID, probeType, message, terminationGracePeriodSeconds, requestedAtMs } = request;
  const placed = placedContainers(target.spec).find(({ spec }) => spec.name === container);
  return {
    // The same container may fail again after it has recovered.
    id: `${id}/${requestedAtMs}/${attempt}`,
    detailType: 'Container Restart Requested',
    timeMs: nowMs,
    detail: {
      container,
      containerID,
      probeType,
      message,
      attempt,
      restartPolicy: placed?.spec.restartPolicy ?? target.spec.restartPolicy,
      terminationGracePeriodSeconds,
    },
  };
}

function recoveredEvent(state: TargetState, container: string, request: RestartRequest, nowMs: number): OutboxEvent {
  const { id, probeType, requestedAtMs, published } = request;
  return {
    id: `${id}/${requestedAtMs}/recovered`,
    detailType: 'Container Recovered',
    timeMs: nowMs,
    detail: {
      container,
      containerID: statusOf(state, container)?.containerID ?? request.containerID,
      probeType,
      message: `Container ${container} passed its ${probeType} probe again`,
      attempts: published,
      failedSinceMs: requestedAtMs,
    },
  };
}
