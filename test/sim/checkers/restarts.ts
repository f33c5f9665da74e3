/**
 * Restarts: a restart is asked for, and a static container restarted, only after its liveness or startup listener has failed as often in a
 * row as the threshold says; the same request comes again after 10 s, 20 s … 300 s until the container is another; and a container that
 * is restarted again waits for its back-off.
 */
import type { ProbeRecord, ReportRecord, StatusRecord, TargetRecord } from '../../../shared/core/records.ts';
import { probeName } from '../../../shared/core/spec.ts';
import { probeKey, targetAddress } from '../../../shared/store/keys.ts';
import type { Published } from '../bus.ts';
import { requestAgainMs } from '../oracle/timing.ts';
import { keyKind } from '../store.ts';
import type { Change } from '../table.ts';
import { type Checker, type Facts, isProbed, recoveryMs } from './checker.ts';
import { smallSkewMs } from './skew.ts';
import { type Incarnations, staticRestarts } from './static-restarts.ts';
import { type Evidence, evidences } from './verdicts.ts';

type Requested = {
  readonly count: number;
  readonly wallMs: number;
  readonly timeMs: number;
  /** Of the probe whose failure asked first. */
  readonly probeType: string;
};

/** What an event takes from when it is due to the bus: the timekeeper's 10 s, a delivery, a sync. */
const publishingMs = 60_000;
const firstProbeTypes = ['liveness', 'startup'] as const;

export const restarts: Checker = (facts, violated) => {
  const { ledger, nowMs, faults } = facts;
  const seen = evidences(facts);
  /** When a containerID was first named by a report or a status. */
  const begun = new Map<string, number>();
  /** Containers that were reported as not running: rule 5 fails their probes without asking anybody. */
  const stopped = new Set<string>();
  const requested = new Map<string, Requested>();
  const incarnations = staticRestarts((uid, container, detail) => violated(`${container} of ${uid} ${detail}`));

  const hasFailed = (target: TargetRecord, container: string, probeType: string, sinceMs: number): boolean => {
    const address = targetAddress(target.namespace, target.name);
    const endpoint = ledger.endpointOf(probeKey(address, probeName(container, probeType as 'liveness')));
    // The probe has left the spec since.
    if (endpoint === undefined) return true;
    return hasRun(seen.of(endpoint), ledger.thresholdOf(endpoint, 'failure'), sinceMs);
  };

  const followRequest = ({ event, publisher, timeMs }: Published) => {
    if (event.detailType !== 'Container Restart Requested') return;
    const { containerID, container, probeType, target } = event.detail;
    const known = requested.get(containerID);
    const record = ledger.targetOf(target.uid);
    const isWarranted =
      probeType !== 'readiness' &&
      (!record || stopped.has(containerID) || hasFailed(record, container, probeType, begun.get(containerID) ?? 0));
    if (!known && !isWarranted)
      violated(`${publisher} asked for a restart of ${containerID}, whose ${probeType} probe has not failed so often`);
    // Published once more, perhaps after a later one.
    if (known && event.timeMs <= known.wallMs) return;
    const againMs = known ? requestAgainMs(known.count) : 0;
    if (known && event.timeMs - known.wallMs < againMs - 2 * smallSkewMs)
      violated(
        `${publisher} asked for a restart of ${containerID} again after ${event.timeMs - known.wallMs} of ${againMs} ms`,
      );
    requested.set(containerID, {
      count: (known?.count ?? 0) + 1,
      wallMs: event.timeMs,
      timeMs,
      probeType: known?.probeType ?? probeType,
    });
  };

  const followStatus = ({ before, after }: Change, timeMs: number) => {
    const status = after as StatusRecord | undefined;
    if (!status) return incarnations.forget(String(before?.uid));
    const target = ledger.targetOf(status.uid);
    for (const name of incarnations.follow(status as unknown as Incarnations, timeMs)) {
      const isWarranted = firstProbeTypes.some((type) => target && hasFailed(target, name, type, 0));
      if (target && !isWarranted)
        violated(`${name} of ${target.name} was restarted, and neither probe has failed so often`);
    }
    for (const { containerID } of status.status.containerStatuses)
      if (!begun.has(containerID)) begun.set(containerID, timeMs);
  };

  const followReport = (change: Change, timeMs: number) => {
    for (const id of reportedIds(change)) requested.delete(id);
    for (const { containerID, state } of (change.after as ReportRecord | undefined)?.containerStatuses ?? []) {
      if (state?.kind !== 'running') stopped.add(containerID);
      if (!begun.has(containerID)) begun.set(containerID, timeMs);
    }
  };

  /** Its container was reported to run only after it had been asked for: the request has ended, and another failure begins anew. */
  const followProbe = (item: ProbeRecord | undefined) => {
    if (item && item.result !== 'failure' && requested.get(item.containerID)?.probeType === item.probeType)
      requested.delete(item.containerID);
  };

  /** A reported container that has failed and runs on is asked for again and again. */
  const look = (target: TargetRecord, calmMs: number) => {
    for (const { probed, item } of ledger.probesOf(target)) {
      const isFailed = item.onHold && item.result === 'failure' && item.probeType !== 'readiness';
      const last = requested.get(item.containerID);
      if (!isFailed || !last || !isProbed(facts, probed, { ...item, onHold: false })) continue;
      const dueMs = Math.max(last.timeMs + requestAgainMs(last.count), calmMs + recoveryMs) + publishingMs;
      if (nowMs() <= dueMs) continue;
      requested.set(item.containerID, { ...last, timeMs: nowMs() });
      violated(`nobody has asked again for a restart of ${item.containerID} since ${last.timeMs}`);
    }
  };

  return {
    probeStarted: seen.started,
    probeSeen: seen.seen,
    published: followRequest,
    applied({ timeMs, changes }) {
      for (const change of changes) {
        const kind = keyKind(change.key);
        if (kind === 'STATUS') followStatus(change, timeMs);
        // Another spec or another report may end a request, and the same container begin it anew.
        if (kind === 'TARGET') for (const id of idsOf(facts, change)) requested.delete(id);
        if (kind === 'REPORT') followReport(change, timeMs);
        if (kind === 'PROBE') followProbe(change.after as ProbeRecord | undefined);
      }
    },
    ticked() {
      const calmMs = faults.calmSinceMs();
      if (calmMs === undefined) return;
      for (const target of ledger.targets()) if (target.spec.lifecycle === 'reported') look(target, calmMs);
    },
  };
};

/** Of the containers that only one of the two reports names, or that stopped or started in between. */
function reportedIds({ before, after }: Change): readonly string[] {
  const named = (report: unknown) =>
    ((report as ReportRecord | undefined)?.containerStatuses ?? []).map(({ containerID, state }) => ({
      containerID,
      text: `${containerID} ${state?.kind}`,
    }));
  const [old, now] = [named(before), named(after)];
  const isIn = (all: typeof old, text: string) => all.some((one) => one.text === text);
  return [...old, ...now]
    .filter(({ text }) => !isIn(old, text) || !isIn(now, text))
    .map(({ containerID }) => containerID);
}

function idsOf({ ledger }: Facts, { after, before }: Change): readonly string[] {
  const target = ledger.targetOf(String((after ?? before)?.uid));
  return target ? ledger.probesOf(target).map(({ item }) => item.containerID) : [];
}

/** Whether so many failures came in a row, without a success that was surely recorded, and the last of them since then. */
function hasRun(seen: readonly Evidence[], wanted: number, sinceMs: number): boolean {
  let run = 0;
  for (const { outcome, isRecorded, endMs } of seen) {
    if (outcome === 'failure') run += 1;
    else if (outcome === 'success' && isRecorded) run = 0;
    if (outcome === 'failure' && run >= wanted && endMs >= sinceMs) return true;
  }
  return false;
}
