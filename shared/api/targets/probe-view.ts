/** What the API shows of one probe: its verdict, or that its result is unknown, with the reason. */
import { statusNamed } from '../../core/kubelet/pod-status.ts';
import { firstInstant, phaseOf } from '../../core/kubelet/ticker.ts';
import type { ProbeRecord, ReportRecord, TargetRecord } from '../../core/spec/records.ts';
import { probeName, type SpecProbe, specProbes } from '../../core/spec/spec.ts';
import type { ContainerStatus } from '../../core/spec/types.ts';
import { probeLabel, seenAtMsOf } from '../../core/status/freshness.ts';
import { hasEnded, isStopped, noSpecDigest, shownOf, type UnknownReason } from '../../core/status/shown.ts';
import { hash32 } from '../../lib/hash32.ts';
import { ownProperty } from '../../lib/own-property.ts';
import type { ProbeStatusView } from '../schema/target-schema.ts';
import { type Freshness, staleSinceMs } from './freshness.ts';
import { instantText } from './instant-text.ts';
import type { StoredTarget } from './stored-target.ts';

export type ViewOptions = { readonly freshness: Freshness; readonly nowMs: number };

/** No observation of the probe counts any more. */
export type Late = { readonly reason: 'Late' | 'ProberDegraded'; readonly sinceMs: number };

/** undefined: the stored state holds. */
export function lateOf(
  { target, probes }: Pick<StoredTarget, 'target' | 'probes'>,
  { name, probe }: SpecProbe,
  { freshness, nowMs }: ViewOptions,
): Late | undefined {
  const shown = {
    name: probeLabel(target, name),
    periodSeconds: probe.periodSeconds,
    // A change that was committed after the last beat was observed at its commit.
    sinceMs: Math.max(target.creationTimestampMs, probes[name]?.sinceMs ?? 0),
    nowMs,
  };
  if (freshness.degraded) {
    const observedAtMs = freshness.observed?.observedAtMs ?? 0;
    return { reason: 'ProberDegraded', sinceMs: Math.max(observedAtMs, target.creationTimestampMs) };
  }
  // A probe that cannot be made counts as behind with each try. The beat of its holder shows that it is tried all the
  // same.
  const beaten = probes[name]?.unknown ? { ...freshness, observed: withoutBehind(freshness) } : freshness;
  const sinceMs = staleSinceMs(beaten, shown);
  return sinceMs === undefined ? undefined : { reason: 'Late', sinceMs };
}

const withoutBehind = ({ observed }: Freshness): Freshness['observed'] => observed && { ...observed, behind: {} };

export function probeView(stored: StoredTarget, probe: SpecProbe, options: ViewOptions): ProbeStatusView {
  const record = stored.probes[probe.name];
  const { onHold = false, version = 0, lastChangeTimeMs } = record ?? {};
  const lastMs = lastProbeMs(stored, probe, options);
  return {
    container: probe.container.spec.name,
    probeType: probe.probeType,
    ...resultView(stored, probe, options),
    ...(lastChangeTimeMs !== undefined && { lastChangeTime: instantText(lastChangeTimeMs) }),
    ...(lastMs !== undefined && { lastProbeTime: instantText(lastMs) }),
    onHold,
    version,
  };
}

type ResultView = Pick<ProbeStatusView, 'result' | 'reason' | 'message' | 'since' | 'failureClass' | 'output'>;

const unknownView = (reason: UnknownReason | 'Ended', sinceMs: number): ResultView => ({
  result: 'unknown',
  reason,
  since: instantText(sinceMs),
});

function resultView(stored: StoredTarget, probe: SpecProbe, options: ViewOptions): ResultView {
  const { target } = stored;
  const record = stored.probes[probe.name];
  if (record && hasEnded(target, record)) return unknownView('Ended', endedMs(target, record));
  const late = lateOf(stored, probe, options);
  if (record && late) return unknownView(late.reason, late.sinceMs);
  const container = containerOf(stored, probe);
  const shown = shownOf(record, container?.containerID ?? '');
  if (shown.kind === 'verdict') return verdictView(shown.result, record);
  const { reason, stored: unknown } = shown;
  if (!unknown) return unknownView(reason, begunMs(stored, record, container));
  const { failureClass, message } = unknown;
  return { ...unknownView(reason, record?.sinceMs ?? 0), failureClass, message };
}

/** Since its end, or since the DELETE that stopped the probe or came before its worker could start again. */
function endedMs(target: TargetRecord, record: ProbeRecord): number {
  const { deletionTimestampMs = 0, deletionGracePeriodSeconds = 0 } = target;
  const deletedMs = deletionTimestampMs - deletionGracePeriodSeconds * 1_000;
  if (isStopped(target, record)) return deletedMs;
  const { endedAtMs = record.sinceMs } = record;
  return record.specDigest === noSpecDigest ? Math.max(deletedMs, endedAtMs) : endedAtMs;
}

function verdictView(result: ProbeStatusView['result'], record: ProbeRecord | undefined): ResultView {
  const { sinceMs = 0, failureClass, output = '' } = record ?? {};
  const details = { ...(failureClass && { failureClass }), ...(output !== '' && { output }) };
  return { result, since: instantText(sinceMs), ...details };
}

/** The container as last written to the status. */
const containerOf = ({ status }: StoredTarget, { container }: SpecProbe): ContainerStatus | undefined =>
  status && statusNamed(status.status, container.spec.name);

/**
 * Since when a probe without a verdict has had none: the start of its container, or the registration. For a worker that
 * started again it is that start.
 */
function begunMs(
  { target, report }: StoredTarget,
  record: ProbeRecord | undefined,
  container: ContainerStatus | undefined,
): number {
  const beganMs = container?.state?.kind === 'running' ? container.state.startedAtMs : idleSinceMs(report, container);
  return Math.max(target.creationTimestampMs, beganMs, record?.sinceMs ?? 0);
}

/** A report of an earlier release does not say it: then it is that report. */
function idleSinceMs(report: ReportRecord | undefined, container: ContainerStatus | undefined): number {
  if (!report || !container) return 0;
  return report.beganAtMs ? (ownProperty(report.beganAtMs, container.name) ?? 0) : report.reportedAtMs;
}

/**
 * When the probe was last done, to within a period. Nothing is written per probe, but all instants before the last beat
 * are done except those that the beat names. Where no probe is made any more (on hold, ended, not running, started) it
 * is the last probe that was written.
 */
function lastProbeMs(stored: StoredTarget, probe: SpecProbe, { freshness, nowMs }: ViewOptions): number | undefined {
  const record = stored.probes[probe.name];
  const writtenMs = record?.lastChangeTimeMs;
  if (!record || !freshness.observed || !isProbedOn(stored, probe, record)) return writtenMs;
  const { namespace, name } = stored.target;
  const periodMs = probe.probe.periodSeconds * 1_000;
  const phased = phaseOf(hash32(`${namespace}/${name}#${probe.name}`), periodMs);
  const seenAtMs = Math.min(nowMs, seenAtMsOf(freshness.observed, probeLabel(stored.target, probe.name)));
  const instantMs = firstInstant(seenAtMs - periodMs + 1, phased);
  return instantMs < firstProbeMs(stored, probe) ? writtenMs : Math.max(writtenMs ?? 0, instantMs);
}

/** Times of a status are whole seconds, as in Kubernetes: a container may have started so much later. */
const statusTimeMs = 999;

/**
 * The earliest time at which the present container can have been probed. A worker on hold made no probe at its earlier
 * instants, and one behind a startup gate made none until the gate opened: with a success, or when the startup worker
 * ended because its probe had left the spec.
 */
function firstProbeMs(stored: StoredTarget, probe: SpecProbe): number {
  const container = containerOf(stored, probe);
  if (container?.state?.kind !== 'running') return 0;
  const gate = probeName(container.name, 'startup');
  const startup = stored.probes[gate];
  const isGated = startup?.containerID === container.containerID;
  const isLeaving = () => !specProbes(stored.target.spec).some(({ name }) => name === gate) && !startup?.ended;
  if (isGated && isLeaving()) return Number.POSITIVE_INFINITY;
  const openedMs = isGated && (startup.result || startup.ended) ? startup.sinceMs : 0;
  return Math.max(openedMs, container.state.startedAtMs + statusTimeMs + probe.probe.initialDelaySeconds * 1_000);
}

function isProbedOn(stored: StoredTarget, probe: SpecProbe, record: ProbeRecord): boolean {
  const container = containerOf(stored, probe);
  if (record.lastResult === undefined || record.ended || record.onHold || record.unknown) return false;
  if (isStopped(stored.target, record)) return false;
  if (container?.state?.kind !== 'running' || container.containerID !== record.containerID) return false;
  return (container.started === true) === (probe.probeType !== 'startup');
}
