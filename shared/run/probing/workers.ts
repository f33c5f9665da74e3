/**
 * Which workers the holder runs: kubelet's AddPod, StopLivenessAndStartup and RemovePod, as one comparison of a target's items with
 * what is held. An existing worker never stops the others from being added.
 */
import { createHash } from 'node:crypto';
import type { ProbeRecord, TargetRecord } from '../../core/records.ts';
import { type ProbeName, type SpecProbe, specProbes } from '../../core/spec.ts';
import {
  loadedTicker,
  newTargetTicker,
  owedTicker,
  type Phased,
  phaseOf,
  restTicker,
  type Ticker,
  takenOverTicker,
} from '../../core/ticker.ts';
import { hash32 } from '../../lib/hash32.ts';
import type { CheckpointRecord } from '../../store/items.ts';
import { probeKey } from '../../store/keys.ts';
import type { ReadTarget } from '../../table/targets.ts';
import type { Holder } from '../holder.ts';
import { inheritedSeenAtMs } from '../inherited.ts';
import { trigger } from './commit-probe.ts';
import {
  containerStatus,
  type HeldProbe,
  type HeldTarget,
  refreshView,
  storedWorker,
  unackedOf,
  withoutRun,
  workerSpecOf,
} from './held-target.ts';
import { takeHang } from './hung-probe.ts';
import { isNewer } from './transition.ts';

export type Checkpoints = CheckpointRecord['entries'];

/** Takes in what was read of a target: holds it if it is new, else brings what is held up to date. */
export function adoptTarget(holder: Holder, read: ReadTarget, checkpoints: Checkpoints): HeldTarget {
  const known = holder.targets.get(read.address.prefix);
  if (known && known.target.uid !== read.target.uid) dropTarget(holder, known);
  const held = known && !known.gone ? known : holdTarget(holder, read);
  takeNewer(held, read);
  if (read.hang) takeHang(holder, held, read.hang);
  for (const [name, record] of Object.entries(read.probes)) {
    const kept = held.records.get(name);
    // Of an item that is held this process is the only writer: what it has in memory is what it last wrote, ends of workers included.
    if (!held.probes.has(name) && !(kept && isNewer(kept, record))) held.records.set(name, record);
  }
  for (const name of refreshView(held)) trigger(holder, held, name);
  reconcileWorkers(holder, held, checkpoints);
  holder.scheduleTarget(held, holder.run.ports.clock.nowMs());
  return held;
}

/** Two reads may come back in another order than they were made. */
function takeNewer(held: HeldTarget, read: ReadTarget): void {
  if (read.target.resourceVersion >= held.target.resourceVersion) held.target = read.target;
  if ((read.report?.version ?? 0) >= (held.report?.version ?? 0)) held.report = read.report;
  if (read.status.version >= held.status.version) held.status = read.status;
}

/** The uid is gone: nothing of it is probed, written or told any more. */
export function dropTarget(holder: Holder, held: HeldTarget): void {
  held.gone = true;
  if (holder.targets.get(held.address.prefix) === held) holder.targets.delete(held.address.prefix);
  for (const probe of held.probes.values()) holder.run.ports.metrics.remove(probe.labels);
}

function holdTarget(holder: Holder, read: ReadTarget): HeldTarget {
  const held: HeldTarget = {
    address: read.address,
    target: read.target,
    report: read.report,
    hang: undefined,
    status: read.status,
    records: new Map(Object.entries(read.probes)),
    probes: new Map(),
    unacked: unackedOf(read),
    observed: { phase: 'Pending', initContainerStatuses: [], containerStatuses: [], triggered: [] },
    syncAskedAtMs: Number.NEGATIVE_INFINITY,
    wake: 0,
    gone: false,
  };
  holder.targets.set(read.address.prefix, held);
  return held;
}

function reconcileWorkers(holder: Holder, held: HeldTarget, checkpoints: Checkpoints): void {
  const wanted = new Map(wantedProbes(held).map((entry) => [entry.name, entry]));
  for (const entry of wanted.values()) {
    const probe = held.probes.get(entry.name);
    if (probe) updateWorker(holder, held, { probe, entry });
    else startWorker(holder, held, entry, checkpoints);
    passOnRequests(holder, held, entry.name, probe ? 'known' : 'loaded');
  }
  for (const [name, record] of held.records) {
    if (!wanted.has(name) && !record.ended) stopWorker(holder, held, name);
  }
}

/** A terminating target loses the liveness and startup workers of its regular containers; sidecars' end by themselves (rule 6). */
function wantedProbes(held: HeldTarget): readonly SpecProbe[] {
  const terminating = held.target.deletionTimestampMs !== undefined;
  return specProbes(held.target.spec).filter(
    ({ container, probeType }) => !terminating || container.kind !== 'container' || probeType === 'readiness',
  );
}

type Updating = { readonly probe: HeldProbe; readonly entry: SpecProbe };

/** A changed spec: the counters restart, the cached result stays until a new threshold is met (difference 3). */
function updateWorker(holder: Holder, held: HeldTarget, { probe, entry }: Updating): void {
  const specDigest = digestOf(entry);
  const moved = probe.spec.periodSeconds !== entry.probe.periodSeconds;
  probe.stopping = false;
  probe.container = entry.container;
  probe.spec = entry.probe;
  probe.workerSpec = workerSpecOf(held.target, entry);
  if (specDigest === probe.specDigest) return;
  probe.specDigest = specDigest;
  probe.worker = withoutRun(probe.worker);
  if (moved) probe.ticker = newTargetTicker(holder.run.ports.clock.nowMs(), phasedOf(held.target, probe));
}

function startWorker(holder: Holder, held: HeldTarget, entry: SpecProbe, checkpoints: Checkpoints): void {
  const record = held.records.get(entry.name);
  if (!record || (record.ended && !revives(held, entry, record))) return;
  held.probes.set(entry.name, workerOf(holder, held, { entry, record, checkpoints }));
}

/**
 * kubelet's AddPod on each sync: an ended worker comes back while its container runs, or with another spec; never while its target
 * terminates or is done.
 */
function revives(held: HeldTarget, entry: SpecProbe, record: ProbeRecord): boolean {
  const { phase } = held.observed;
  if (held.target.deletionTimestampMs !== undefined || phase === 'Failed' || phase === 'Succeeded') return false;
  const status = containerStatus(held.observed, entry.container.spec.name);
  return status?.state?.kind === 'running' || digestOf(entry) !== record.specDigest;
}

type Starting = { readonly entry: SpecProbe; readonly record: ProbeRecord; readonly checkpoints: Checkpoints };

function workerOf(holder: Holder, held: HeldTarget, { entry, record, checkpoints }: Starting): HeldProbe {
  const { namespace, name, uid } = held.target;
  const nowMs = holder.run.ports.clock.nowMs();
  const phased = phasedOf(held.target, { name: entry.name, spec: entry.probe });
  const specDigest = digestOf(entry);
  const checkpoint = checkpoints[probeKey(held.address, entry.name).sk];
  const owed = checkpoint?.uid === uid && checkpoint.owed === true;
  return {
    name: entry.name,
    probeType: entry.probeType,
    labels: { probeType: entry.probeType, container: entry.container.spec.name, pod: name, namespace, podUid: uid },
    container: entry.container,
    spec: entry.probe,
    workerSpec: workerSpecOf(held.target, entry),
    specDigest,
    record,
    worker: storedWorker(record, specDigest, checkpoint),
    requestsSeen: requestsSeen(checkpoint, uid),
    ticker: firstTicker({
      record,
      owed,
      phased,
      nowMs,
      unheldSinceMs: holder.takenOver?.unheldSinceMs ?? nowMs,
      isTick: holder.run.message.mode === 'tick',
    }),
    wake: 0,
    inFlight: false,
    manners: 'new',
    owed: false,
    seenAtMs: holder.takenOver
      ? inheritedSeenAtMs(holder.takenOver.inherited, held, { probe: entry.name, nowMs })
      : nowMs,
    isVoid: false,
    erred: false,
    stopping: false,
    attempts: [],
    ration: undefined,
  };
}

type First = {
  readonly record: ProbeRecord;
  readonly owed: boolean;
  readonly phased: Phased;
  readonly nowMs: number;
  readonly unheldSinceMs: number;
  readonly isTick: boolean;
};

function firstTicker({ record, owed, phased, nowMs, unheldSinceMs, isTick }: First): Ticker {
  // A worker that comes back starts anew, and kubelet's first probe comes at once.
  const isNew = record.version === 0 && record.lastResult === undefined;
  if (isNew || record.ended) return newTargetTicker(nowMs, phased);
  if (isTick && !owed) return restTicker(loadedTicker(nowMs, phased));
  return owed || record.lastResult === undefined
    ? owedTicker(nowMs, phased)
    : takenOverTicker(nowMs, phased, unheldSinceMs);
}

function passOnRequests(holder: Holder, held: HeldTarget, name: ProbeName, since: 'known' | 'loaded'): void {
  const probe = held.probes.get(name);
  if (!probe) return;
  const requests = held.target.probeRequests[name] ?? 0;
  if (requests > probe.requestsSeen) {
    // Whoever held it before may have passed it on already: it is owed a probe, and keeps its phase.
    if (since === 'loaded' && !probe.ticker.resting)
      probe.ticker = owedTicker(holder.run.ports.clock.nowMs(), phasedOf(held.target, probe));
    else trigger(holder, held, name);
  }
  probe.requestsSeen = Math.max(probe.requestsSeen, requests);
  holder.schedule(held, probe);
}

function stopWorker(holder: Holder, held: HeldTarget, name: ProbeName): void {
  const probe = held.probes.get(name);
  const record = held.records.get(name);
  if (probe) {
    probe.stopping = true;
    trigger(holder, held, name);
    return;
  }
  // Its spec left while nobody held the shard: a worker that only ends.
  if (record) endForgotten(holder, held, { name, record });
}

function endForgotten(
  holder: Holder,
  held: HeldTarget,
  { name, record }: { readonly name: ProbeName; readonly record: ProbeRecord },
): void {
  const spec = {
    initialDelaySeconds: 0,
    periodSeconds: 1,
    timeoutSeconds: 1,
    successThreshold: 1,
    failureThreshold: 1,
  };
  const container = { kind: 'container' as const, spec: { name: record.container } };
  const entry: SpecProbe = { name, container, probeType: record.probeType, probe: spec };
  const probe = workerOf(holder, held, { entry, record, checkpoints: {} });
  probe.stopping = true;
  held.probes.set(name, probe);
  trigger(holder, held, name);
}

/** Where in its period a probe has its instants. */
export const phasedOf = ({ namespace, name }: TargetRecord, probe: Pick<HeldProbe, 'name' | 'spec'>): Phased =>
  phaseOf(hash32(`${namespace}/${name}#${probe.name}`), probe.spec.periodSeconds * 1000);

/** Of another incarnation's requests nothing has been passed on: an entry counts for its uid alone. */
const requestsSeen = (checkpoint: Checkpoints[string] | undefined, uid: string): number =>
  checkpoint?.uid === uid ? (checkpoint.requestsSeen ?? 0) : 0;

/** What is to be remembered of a target that is read anew: its manual triggers, so that none fires twice. No run length counts. */
export function requestsPassedOn({ address, target, probes }: HeldTarget): Checkpoints {
  const entries = [...probes.values()].map((probe) => {
    const entry = { uid: target.uid, streak: noStreak, resultRun: 0, requestsSeen: probe.requestsSeen };
    return [probeKey(address, probe.name).sk, entry] as const;
  });
  return Object.fromEntries(entries);
}

/** No item has it. */
const noStreak = -1;

const digestDigits = 16;

/** Digest of a probe's spec, the same however a store ordered its attributes. */
function digestOf({ probe }: SpecProbe): string {
  return createHash('sha256').update(sortedJson(probe)).digest('hex').slice(0, digestDigits);
}

function sortedJson(value: unknown): string {
  return JSON.stringify(value, (_, part: unknown) =>
    typeof part === 'object' && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  );
}
