/**
 * Restarts: a restart is requested only after as many liveness or startup failures in a row as the threshold; the
 * request is repeated after 10 s, 20 s … 300 s while the container fails. Another containerID of a reported target, or
 * a success of a static one, ends it. A static container changes only after a reported restart.
 */
import type { ProbeRecord, ReportRecord, StatusRecord, TargetRecord } from '../../../shared/core/spec/records.ts';
import { probeName } from '../../../shared/core/spec/spec.ts';
import { probeKey, targetAddress } from '../../../shared/store/records/keys.ts';
import type { Published } from '../bus.ts';
import { staticContainer } from '../oracle/container-id.ts';
import { requestAgainMs } from '../oracle/timing.ts';
import { keyKind } from '../store.ts';
import type { Change } from '../table.ts';
import { type Checker, isProbed, recoveryMs } from './checker.ts';
import { smallSkewMs } from './skew.ts';
import { touchedMs } from './touched.ts';
import { type Evidence, evidences } from './verdicts.ts';

type Requested = {
  readonly uid: string;
  readonly container: string;
  readonly containerID: string;
  readonly attempt: number;
  readonly wallMs: number;
  readonly timeMs: number;
  /** A success, a spec or a report has ended the episode: only repetitions may still come. */
  readonly isOver: boolean;
};

/** From when an event is due to the bus: the timekeeper's 10 s, a delivery, a sync. */
const publishingMs = 60_000;

export const restarts: Checker = (facts, violated) => {
  const { ledger, nowMs, faults } = facts;
  const seen = evidences(facts);
  /** When a containerID was first named by a report, a target or a status. */
  const begun = new Map<string, number>();
  /** Containers reported as not running: rule 5 fails their probes without probing. */
  const stopped = new Set<string>();
  /** The last request of each episode: by containerID, of a static target by container. */
  const requested = new Map<string, Requested>();
  /** When an episode last ended, by the true time: what was written before may be published later. */
  const ended = new Map<string, number>();
  /** When a verdict was last success and when it was first failure, by containerID and probe type. */
  const succeeded = new Map<string, number>();
  const failed = new Map<string, number>();
  /** Reports of a restart that were sent, by the path that they went to. */
  const reports = new Map<string, number>();

  const isStatic = (uid: string) => ledger.targetOf(uid)?.spec.lifecycle === 'static';
  const episodeOf = (uid: string, container: string, containerID: string) =>
    isStatic(uid) ? `${uid}/${container}` : containerID;

  const hasFailed = (target: TargetRecord, container: string, probeType: string, sinceMs: number): boolean => {
    const address = targetAddress(target.namespace, target.name);
    const endpoint = ledger.endpointOf(probeKey(address, probeName(container, probeType as 'liveness')));
    // The probe has left the spec since.
    if (endpoint === undefined) return true;
    return hasRun(seen.of(endpoint), ledger.thresholdOf(endpoint, 'failure'), sinceMs);
  };

  const followRequest = ({ event, publisher, timeMs }: Published) => {
    if (event.detailType !== 'Container Restart Requested') return;
    const { containerID, container, probeType, target, attempt } = event.detail;
    const episode = episodeOf(target.uid, container, containerID);
    const last = requested.get(episode);
    const known = last?.isOver ? undefined : last;
    const record = ledger.targetOf(target.uid);
    const isWarranted =
      probeType !== 'readiness' &&
      (!record || stopped.has(containerID) || hasFailed(record, container, probeType, begun.get(containerID) ?? 0));
    if (known?.containerID !== containerID && !isWarranted)
      violated(`${publisher} asked for a restart of ${containerID}, whose ${probeType} probe has not failed so often`);
    // Published once more, perhaps after a later one.
    if (last && event.timeMs <= last.wallMs) return;
    if (known && attempt <= known.attempt)
      violated(`${publisher} asked for attempt ${attempt} of ${containerID} after attempt ${known.attempt}`);
    if (known) tooSoon(known, event.timeMs, `${publisher} asked for a restart of ${containerID} again`);
    const isOver = (ended.get(episode) ?? Number.NEGATIVE_INFINITY) > event.timeMs - 2 * smallSkewMs;
    requested.set(episode, { uid: target.uid, container, containerID, attempt, wallMs: event.timeMs, timeMs, isOver });
  };

  const tooSoon = (known: Requested, atMs: number, what: string) => {
    const pauseMs = atMs - known.wallMs;
    const againMs = requestAgainMs(known.attempt);
    if (pauseMs < againMs - 2 * smallSkewMs) violated(`${what} after ${pauseMs} of ${againMs} ms`);
  };

  const end = (episode: string) => {
    ended.set(episode, ledger.wallMs());
    const last = requested.get(episode);
    if (last) requested.set(episode, { ...last, isOver: true });
  };

  const followRecovered = ({ event, publisher }: Published) => {
    if (event.detailType !== 'Container Recovered') return;
    const { containerID, container, probeType, target } = event.detail;
    const verdict = `${containerID}#${probeType}`;
    // A delayed sync may request a restart after a success that it has not read, so the times of requests decide
    // nothing. An earlier container may have failed, and this one only since it recovered.
    const succeededMs = succeeded.get(verdict);
    const failedMs = failed.get(verdict) ?? 0;
    const hasFailedBefore = failedMs < event.timeMs - 2 * smallSkewMs;
    if (succeededMs === undefined || (succeededMs < failedMs && hasFailedBefore))
      violated(`${publisher} told that ${containerID} has recovered, whose ${probeType} probe has not succeeded`);
    // A delayed sync may have repeated the request after the success: what follows is another episode.
    end(episodeOf(target.uid, container, containerID));
  };

  const followStatus = ({ after }: Change, timeMs: number) => {
    const status = after as StatusRecord | undefined;
    const target = status && ledger.targetOf(status.uid);
    for (const { name, containerID, restartCount } of status?.status.containerStatuses ?? []) {
      if (!begun.has(containerID)) begun.set(containerID, timeMs);
      if (target?.spec.lifecycle !== 'static') continue;
      const sent = reports.get(`/v1/namespaces/${target.namespace}/targets/${target.name}/restarted`) ?? 0;
      if (restartCount > sent)
        violated(`${name} of ${target.name} shows ${restartCount} restarts, of which ${sent} were reported`);
    }
  };

  const followReport = (change: Change, timeMs: number) => {
    for (const id of reportedIds(change)) end(id);
    for (const { containerID, state } of (change.after as ReportRecord | undefined)?.containerStatuses ?? []) {
      if (state?.kind !== 'running') stopped.add(containerID);
      if (!begun.has(containerID)) begun.set(containerID, timeMs);
    }
  };

  /** A success of a probe that asks for restarts ends the episode of a static container. */
  const followProbe = (item: ProbeRecord | undefined) => {
    if (!item || item.probeType === 'readiness') return;
    const verdict = `${item.containerID}#${item.probeType}`;
    if (item.result === 'failure' && !failed.has(verdict)) failed.set(verdict, ledger.wallMs());
    if (item.result !== 'success') return;
    succeeded.set(verdict, ledger.wallMs());
    end(episodeOf(item.uid, item.container, item.containerID));
  };

  /** Another spec may end a request, and the same container may begin one again; a reported restart does not. */
  const followTarget = ({ before, after }: Change, timeMs: number) => {
    const target = after as TargetRecord | undefined;
    for (const name of Object.keys(target?.incarnations ?? {})) {
      const { containerID } = staticContainer(target as TargetRecord, name);
      if (!begun.has(containerID)) begun.set(containerID, timeMs);
    }
    if (before?.generation === after?.generation && before?.deletionTimestampMs === after?.deletionTimestampMs) return;
    const uid = String((after ?? before)?.uid);
    for (const [episode, one] of requested) if (one.uid === uid) end(episode);
  };

  /** The request of a container that still fails is repeated. */
  const look = (target: TargetRecord, calmMs: number) => {
    for (const { probed, item } of ledger.probesOf(target)) {
      const last = requested.get(episodeOf(target.uid, item.container, item.containerID));
      if (!last || last.isOver || last.containerID !== item.containerID || !isFailed(target, item)) continue;
      if (!isProbed(facts, probed, { ...item, onHold: false })) continue;
      const dueMs = Math.max(last.timeMs + requestAgainMs(last.attempt), calmMs + recoveryMs);
      if (nowMs() <= dueMs + publishingMs) continue;
      // A fault from before the calm, as a lock on the shard's group, may still keep it from having a holder.
      if (nowMs() - dueMs - touchedMs(facts, { fromMs: dueMs, toMs: nowMs() }) <= publishingMs) continue;
      requested.set(episodeOf(target.uid, item.container, item.containerID), { ...last, timeMs: nowMs() });
      violated(`no process has asked again for a restart of ${item.containerID} since ${last.timeMs}`);
    }
  };

  return {
    probeStarted: seen.started,
    probeSeen: seen.seen,
    asked({ method, path }) {
      if (method === 'POST') reports.set(path, (reports.get(path) ?? 0) + 1);
    },
    published(published) {
      followRequest(published);
      followRecovered(published);
    },
    applied({ timeMs, changes }) {
      for (const change of changes) {
        const kind = keyKind(change.key);
        if (kind === 'STATUS') followStatus(change, timeMs);
        if (kind === 'TARGET') followTarget(change, timeMs);
        if (kind === 'REPORT') followReport(change, timeMs);
        if (kind === 'PROBE') followProbe(change.after as ProbeRecord | undefined);
      }
    },
    ticked() {
      const calmMs = faults.calmSinceMs();
      if (calmMs === undefined) return;
      for (const target of ledger.targets()) look(target, calmMs);
    },
  };
};

/**
 * Whether its liveness or startup probe requires a restart: kubelet's worker is then on hold, a static one's is not.
 */
export const isFailed = ({ spec }: TargetRecord, item: ProbeRecord): boolean =>
  item.result === 'failure' &&
  item.probeType !== 'readiness' &&
  (spec.lifecycle === 'static' ? spec.restartPolicy !== 'Never' : item.onHold);

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

/** Whether so many failures came in a row without a recorded success, the last of them since then. */
function hasRun(seen: readonly Evidence[], wanted: number, sinceMs: number): boolean {
  let run = 0;
  for (const { outcome, isRecorded, endMs } of seen) {
    if (outcome === 'failure') run += 1;
    else if (outcome === 'success' && isRecorded) run = 0;
    if (outcome === 'failure' && run >= wanted && endMs >= sinceMs) return true;
  }
  return false;
}
