/** Targets, their probes and their events as rows of tables. */

import type { EventView } from '../../../shared/api/routes/events.ts';
import type { ContainerStatusView, ProbeStatusView, TargetView } from '../../../shared/api/schema/target-schema.ts';
import { failureText } from '../../../shared/core/status/failure-text.ts';
import { ownProperty } from '../../../shared/lib/own-property.ts';
import { ageText, sinceText } from './durations.ts';
import { type PodColumns, podColumns } from './pod-columns.ts';
import { portsText } from './probe-text.ts';
import type { Cell, Row, Shade } from './tables.ts';

export type RowStyle = {
  readonly hasNamespace: boolean;
  /** Whether the column with the target is left out, for probes. */
  readonly isOfOne?: boolean;
  readonly isWide: boolean;
  /** Whether labels are in the last column, for targets. */
  readonly hasLabels?: boolean;
};

export const none = '<none>';

/** `a=b`, joined by the separator. */
export const pairsText = (entries: { readonly [key: string]: string }, separator: string): string =>
  Object.entries(entries)
    .map(([key, value]) => `${key}=${value}`)
    .join(separator) || none;

/** Column heads. */
export const targetHead = ({ hasNamespace, isWide, hasLabels = false }: RowStyle): Row => [
  ...(hasNamespace ? ['NAMESPACE'] : []),
  ...['NAME', 'READY', 'STATUS', 'RESTARTS', 'AGE'],
  ...(isWide ? ['HOST', 'PORTS', 'READINESS GATES', 'RESULT', 'SINCE', 'LAST-FAILURE'] : []),
  ...(hasLabels ? ['LABELS'] : []),
];

/** One target. Ages are as of `nowMs`. */
export function targetRow(target: TargetView, style: RowStyle, nowMs: number): Row {
  const { hasNamespace, isWide, hasLabels = false } = style;
  const { metadata, spec, status } = target;
  const columns = podColumns(target);
  return [
    ...(hasNamespace ? [metadata.namespace] : []),
    metadata.name,
    readyCell(target, columns),
    statusCell(target, columns),
    restartsText(target, columns, nowMs),
    sinceText(metadata.creationTimestamp, nowMs),
    ...(isWide ? [spec.host, portsText(spec), gatesText(target), ...resultCells(status.probes, nowMs)] : []),
    ...(hasLabels ? [pairsText(metadata.labels, ',')] : []),
  ];
}

const conditionOf = ({ conditions }: TargetView['status'], type: string): string | undefined =>
  conditions.find((each) => each.type === type)?.status;

/** How many containers are ready is not known while the condition is not. */
function readyCell(target: TargetView, { ready, containers }: PodColumns): Cell {
  if (isUnknown(target)) return { text: `?/${containers}`, shade: 'doubt' };
  return { text: `${ready}/${containers}`, shade: conditionOf(target.status, 'Ready') === 'True' ? 'good' : 'bad' };
}

/** Whether probes that cannot tell decide whether the target is ready, or its status cannot be read. */
const isUnknown = ({ status }: TargetView): boolean =>
  conditionOf(status, 'Ready') === 'Unknown' || status.reason === 'Quarantined';

const requestOf = ({ status }: TargetView): ContainerStatusView['restartRequest'] =>
  [...status.initContainerStatuses, ...status.containerStatuses].find((each) => each.restartRequest)?.restartRequest;

/** Where kubelet would restart the container and kubectl says CrashLoopBackOff: here the restart is only requested. */
const restartRequested = 'RestartRequested';

/**
 * As kubectl, with two words of its own where kubectl would show the bare phase of what runs: a container is to be
 * restarted, or probes that cannot tell decide whether the target is ready.
 */
export function statusText(target: TargetView, { status }: PodColumns = podColumns(target)): string {
  if (status !== target.status.phase || isOver(status)) return status;
  if (requestOf(target)) return restartRequested;
  return isUnknown(target) ? 'Unknown' : status;
}

const isOver = (phase: string): boolean => phase === 'Succeeded' || phase === 'Failed';

const soundStatuses: readonly string[] = ['Running', 'Succeeded', 'Completed'];
const doubtfulStatuses: readonly string[] = [
  'Unknown',
  'Terminating',
  'Pending',
  'ContainerCreating',
  'PodInitializing',
];

function statusCell(target: TargetView, columns: PodColumns): Cell {
  const text = statusText(target, columns);
  if (soundStatuses.includes(text)) return text;
  return { text, shade: doubtfulStatuses.includes(text) || /^Init:\d+\//.test(text) ? 'doubt' : 'bad' };
}

/** With the time of the last restart; before there is any, with the number of requests. */
function restartsText(target: TargetView, { restarts, lastRestartMs }: PodColumns, nowMs: number): string {
  const { attempts = 0 } = requestOf(target) ?? {};
  const requested = attempts === 0 ? '' : `${attempts} requested`;
  const since = restarts === 0 || lastRestartMs === undefined ? '' : `${ageText(nowMs - lastRestartMs)} ago`;
  const more = [since, requested].filter((text) => text !== '').join(', ');
  return more === '' ? `${restarts}` : `${restarts} (${more})`;
}

/** As `kubectl get pods -o wide`: how many of the readiness gates are true. */
function gatesText({ spec, status }: TargetView): string {
  const met = spec.readinessGates.filter(({ conditionType }) => conditionOf(status, conditionType) === 'True').length;
  return spec.readinessGates.length === 0 ? none : `${met}/${spec.readinessGates.length}`;
}

/** By what matters most. One of a newer server matters more than all. */
const resultOrder: readonly string[] = ['unknown', 'failure', 'success'];

/** The result that matters most, then the last to change. */
function resultCells(probes: readonly ProbeStatusView[], nowMs: number): readonly Cell[] {
  const rank = ({ result }: ProbeStatusView) => resultOrder.indexOf(result);
  const [worst] = probes.toSorted((a, b) => rank(a) - rank(b) || (a.since < b.since ? 1 : -1));
  if (!worst) return [none, none, none];
  const failed = probes.find(({ result }) => result === 'failure');
  const failure = failed ? `${failed.failureClass ?? 'failure'}: ${outputOf(failed)}` : none;
  return [{ ...resultCell(worst) }, sinceText(worst.since, nowMs), failure];
}

/** What a probe has said, or why it cannot be made. */
const outputOf = ({ message, output = '', result, failureClass }: ProbeStatusView): string =>
  message ?? (result === 'failure' ? failureText(output, failureClass) : output);

const resultShades = { success: 'good', failure: 'bad', unknown: 'doubt' } as const;

/** A newer server may have other results. */
const shadeOf = (result: string): Shade => ownProperty<Shade>(resultShades, result) ?? 'doubt';

/** With the reason of an unknown one, and its probe. */
const resultCell = ({ probeType, result, reason }: ProbeStatusView) => ({
  text: `${probeType} ${result}${reason === undefined ? '' : ` (${reason})`}`,
  shade: shadeOf(result),
});

export const probeHead = ({ hasNamespace, isWide, isOfOne = false }: RowStyle): Row => [
  ...(hasNamespace ? ['NAMESPACE'] : []),
  ...(isOfOne ? [] : ['TARGET']),
  ...['CONTAINER', 'TYPE', 'RESULT', 'REASON', 'SINCE', 'LAST'],
  ...(isWide ? ['OUTPUT'] : []),
];

/** One row for each probe of a target. */
export const probeRows = (target: TargetView, style: RowStyle, nowMs: number): readonly Row[] =>
  target.status.probes.map((probe) => [
    ...(style.hasNamespace ? [target.metadata.namespace] : []),
    ...(style.isOfOne ? [] : [target.metadata.name]),
    probe.container,
    probe.probeType,
    { text: probe.result, shade: shadeOf(probe.result) },
    probe.reason ?? probe.failureClass ?? '',
    sinceText(probe.since, nowMs),
    sinceText(probe.lastProbeTime, nowMs),
    ...(style.isWide ? [outputOf(probe)] : []),
  ]);

/** An event does not name its target. */
export type TargetEvent = { readonly namespace: string; readonly target: string; readonly event: EventView };

export const eventHead = (hasNamespace: boolean): Row => [
  ...(hasNamespace ? ['NAMESPACE'] : []),
  ...['LAST SEEN', 'TYPE', 'REASON', 'OBJECT', 'MESSAGE'],
];

/** As `kubectl get events` prints it. */
export const eventRow = ({ namespace, target, event }: TargetEvent, hasNamespace: boolean, nowMs: number): Row => [
  ...(hasNamespace ? [namespace] : []),
  `${sinceText(event.time, nowMs)}${event.count > 1 ? ` (x${event.count})` : ''}`,
  { text: event.type, shade: event.type === 'Warning' ? 'bad' : 'good' },
  event.reason,
  `target/${target}`,
  messageOf(event),
];

/** kubelet's text ends with what a command has printed, which may be nothing. */
const messageOf = ({ message }: EventView): string =>
  message.endsWith('probe failed: ') ? `${message}(no output)` : message;
