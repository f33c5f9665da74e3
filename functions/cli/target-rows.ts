/** Targets and their probes as rows of tables. */
import type { ContainerStatusView, ProbeStatusView, TargetView } from '../../shared/api/target-schema.ts';
import { ageText, sinceText } from './durations.ts';
import type { Cell, Row } from './tables.ts';

export type RowStyle = { readonly hasNamespace: boolean; readonly isWide: boolean };

export const none = '<none>';

/** Column heads. */
export const targetHead = ({ hasNamespace, isWide }: RowStyle): Row => [
  ...(hasNamespace ? ['NAMESPACE'] : []),
  ...['NAME', 'READY', 'STATUS', 'RESTARTS', 'AGE'],
  ...(isWide ? ['HOST', 'RESULT', 'SINCE', 'LAST-FAILURE'] : []),
];

/** One target. Ages are as of `nowMs`. */
export function targetRow(target: TargetView, { hasNamespace, isWide }: RowStyle, nowMs: number): Row {
  const { metadata, spec, status } = target;
  return [
    ...(hasNamespace ? [metadata.namespace] : []),
    metadata.name,
    readyCell(target),
    statusCell(target),
    restartsText(status.containerStatuses, nowMs),
    sinceText(metadata.creationTimestamp, nowMs),
    ...(isWide ? [spec.host, ...resultCells(status.probes, nowMs)] : []),
  ];
}

const readyOf = ({ status }: TargetView): string =>
  status.conditions.find(({ type }) => type === 'Ready')?.status ?? 'Unknown';

/** How many containers are ready is not known while the condition is not. */
function readyCell(target: TargetView): Cell {
  const all = target.spec.containers.length;
  const ready = target.status.containerStatuses.filter((each) => each.ready).length;
  switch (readyOf(target)) {
    case 'True':
      return { text: `${ready}/${all}`, shade: 'good' };
    case 'False':
      return { text: `${ready}/${all}`, shade: 'bad' };
    default:
      return { text: `?/${all}`, shade: 'doubt' };
  }
}

/** As kubectl: what keeps a container from running, or the phase. */
export function statusText(target: TargetView): string {
  const { metadata, status } = target;
  if (metadata.deletionTimestamp !== undefined) return 'Terminating';
  const stopped = status.containerStatuses.flatMap(({ state }) => state.waiting?.reason ?? endedText(state) ?? []);
  const [reason] = stopped;
  if (reason !== undefined) return reason;
  return readyOf(target) === 'Unknown' ? 'Unknown' : (status.reason ?? status.phase);
}

function endedText({ terminated }: ContainerStatusView['state']): string | undefined {
  if (!terminated) return undefined;
  return terminated.reason ?? `ExitCode:${terminated.exitCode}`;
}

function statusCell(target: TargetView): Cell {
  const text = statusText(target);
  if (text === 'Unknown' || text === 'Terminating') return { text, shade: 'doubt' };
  return text === 'Running' || text === 'Succeeded' || text === 'Completed' ? text : { text, shade: 'bad' };
}

/** The restarts of all containers, and when the last one was. */
function restartsText(containers: readonly ContainerStatusView[], nowMs: number): string {
  const count = containers.reduce((sum, { restartCount }) => sum + restartCount, 0);
  const finished = containers.flatMap(({ lastState }) => lastState.terminated?.finishedAt ?? []).toSorted();
  const last = finished.at(-1);
  return count === 0 || last === undefined ? `${count}` : `${count} (${ageText(nowMs - Date.parse(last))} ago)`;
}

/** The result that matters most: unknown, then failed, then the last to change. */
function resultCells(probes: readonly ProbeStatusView[], nowMs: number): readonly Cell[] {
  const rank = { unknown: 0, failure: 1, success: 2 };
  const [worst] = probes.toSorted((a, b) => rank[a.result] - rank[b.result] || (a.since < b.since ? 1 : -1));
  if (!worst) return [none, none, none];
  const failed = probes.find(({ output, result }) => result === 'failure' && output !== undefined);
  const failure = failed ? `${failed.failureClass ?? 'failure'}: ${failed.output ?? ''}` : none;
  return [{ ...resultCell(worst) }, sinceText(worst.since, nowMs), failure];
}

const resultShades = { success: 'good', failure: 'bad', unknown: 'doubt' } as const;

/** With the reason of an unknown one, and its probe. */
const resultCell = ({ probeType, result, reason }: ProbeStatusView) => ({
  text: `${probeType} ${result}${reason === undefined ? '' : ` (${reason})`}`,
  shade: resultShades[result],
});

export const probeHead = ({ hasNamespace, isWide }: RowStyle): Row => [
  ...(hasNamespace ? ['NAMESPACE'] : []),
  ...['TARGET', 'CONTAINER', 'TYPE', 'RESULT', 'REASON', 'SINCE', 'LAST'],
  ...(isWide ? ['OUTPUT'] : []),
];

/** One row for each probe of a target. */
export const probeRows = (target: TargetView, { hasNamespace, isWide }: RowStyle, nowMs: number): readonly Row[] =>
  target.status.probes.map((probe) => [
    ...(hasNamespace ? [target.metadata.namespace] : []),
    target.metadata.name,
    probe.container,
    probe.probeType,
    { text: probe.result, shade: resultShades[probe.result] },
    probe.reason ?? probe.failureClass ?? '',
    sinceText(probe.since, nowMs),
    sinceText(probe.lastProbeTime, nowMs),
    ...(isWide ? [probe.message ?? probe.output ?? ''] : []),
  ]);
