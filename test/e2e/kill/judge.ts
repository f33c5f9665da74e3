/** What has to hold, whenever the product is killed. Each rule returns what breaks it. */

import { residentSlotMs, slotAt } from '../../../shared/core/shards/slots.ts';
import type { EventRecord, ProbeRecord, StatusRecord } from '../../../shared/core/spec/records.ts';
import { sameValue } from '../../../shared/lib/equality.ts';
import { type Kept, restoredRun, type Snapshot } from './snapshot.ts';
import { type Cast, flapping, stableFamilies } from './targets.ts';

/** A life of the process. `readyMs`: when it listened; absent: killed before. `doubted`: its prober doubted itself. */
export type Life = {
  readonly startedMs: number;
  readonly readyMs?: number;
  readonly killedMs: number;
  readonly doubted?: boolean;
};

export type Faults = readonly string[];

/** Long enough for what a process does at once, on a busy machine. */
export const promptMs = 4_000;
/** An answer this shortly before a kill may not have been counted. */
const uncountedMs = 1_000;

/**
 * Nothing about settled targets changes, but for repetitions of an open restart request, and in a PROBE item what an
 * entry of its probe's has taken of the budget for the event history.
 */
export function stableItemsUnchanged(cast: Cast, settled: Snapshot, now: Snapshot): Faults {
  const isStable = (target: string) => stableFamilies.some((family) => cast.families.get(target) === family);
  const statuses = [...settled.statuses].filter(([name]) => isStable(name));
  const probes = settled.probes.filter(({ target }) => isStable(target));
  return [
    ...statuses
      .filter(([name, status]) => !sameValue(withoutRequests(status), withoutRequests(now.statuses.get(name))))
      .map(([name]) => `the status of ${name} was written`),
    ...probes.filter((probe) => !isUnchanged(probe, now)).map(({ sk }) => `${sk} was written`),
  ];
}

function isUnchanged(probe: Kept<ProbeRecord>, now: Snapshot): boolean {
  const later = now.probes.find(({ sk }) => sk === probe.sk);
  if (!later || later.text === probe.text) return later !== undefined;
  const { rest, lastWrite } = stored(later);
  return sameValue(rest, stored(probe).rest) && entriesOf(probe, now).includes(lastWrite);
}

/** As in the file, whatever a reader of the record makes of it. `lastWrite`: the transaction that wrote it. */
function stored({ text }: Kept<unknown>) {
  const { history: _, lastWrite, ...rest } = JSON.parse(text);
  return { rest, lastWrite };
}

/** The transactions that wrote the probe's entries of the event history. */
const entriesOf = ({ target, record }: Kept<ProbeRecord>, { events }: Snapshot): readonly unknown[] =>
  events
    .filter((entry) => entry.target === target && probeNameOf(entry.record) === probeNameOf(record))
    .map((entry) => stored(entry).lastWrite);

function withoutRequests(status: StatusRecord | undefined) {
  const { restartRequests: _, version, outbox: __, ...rest } = status ?? ({} as StatusRecord);
  return sameValue(status?.restartRequests, {}) ? { ...rest, version } : rest;
}

const nameIn = (key: string): string => key.split('#')[2]?.split('/')[1] ?? '';

/** Items leave only with the grace period of their target; the history never (its time to live is a week). */
export function nothingLost(before: Snapshot, after: Snapshot): Faults {
  const mayGo = (key: string) => {
    const target = before.targets.get(nameIn(key));
    return !key.includes('#EVENT#') && target !== undefined && (target.deletionTimestampMs ?? Infinity) <= after.timeMs;
  };
  return [...before.texts.keys()].filter((key) => !after.texts.has(key) && !mayGo(key)).map((key) => `${key} was lost`);
}

/** Every version of every result has its transition. */
export function everyVersionPublished({ probes, events }: Snapshot): Faults {
  const published = new Set(
    events
      .filter(({ record }) => record.kind === 'transition')
      .map(({ target, record }) => `${target} ${changeOf(record.id)}`),
  );
  return probes
    .flatMap(({ target, record }) =>
      Array.from({ length: record.version }, (_, index) => `${target} ${probeNameOf(record)}#${index + 1}`).filter(
        (name) => !published.has(name),
      ),
    )
    .map((name) => `${name} has no transition`);
}

/** A transition's id is its time, its probe and its version, padded so that it sorts. */
const changeOf = (id: string): string =>
  id.replace(/^\d+#(.*)#~(\d+)$/, (_, probe, version) => `${probe}#${Number(version)}`);

const probeNameOf = ({ container, probeType }: Pick<EventRecord, 'container' | 'probeType'>): string =>
  `${container}#${probeType}`;

/**
 * A verdict of a life results from probes of that life, also the first one of a container: no initial value is stored.
 */
export function verdictsAreOwn(before: Snapshot, after: Snapshot, life: Life): Faults {
  const known = new Set(before.events.map(({ sk }) => sk));
  const fresh = after.events.filter(({ sk, record }) => !known.has(sk) && record.kind === 'transition');
  const unbacked = fresh.filter(({ record }) => record.result !== undefined && record.attempts.length === 0);
  const foreign = fresh.filter(({ record }) => record.attempts.some(({ timeMs }) => timeMs < life.startedMs));
  return [
    ...unbacked.map(({ target, record }) => `${target} ${record.id}: decided by no attempt`),
    ...foreign.map(({ target, record }) => `${target} ${record.id}: decided by attempts of an earlier process`),
  ];
}

/** The published results of flapping targets are what they really answered. */
export function flapsAreTrue(cast: Cast, { events }: Snapshot, lives: readonly Life[]): Faults {
  const flaps = events.filter(
    ({ target, record }) =>
      cast.families.get(target) === 'flapping' && record.kind === 'transition' && record.attempts.length > 0,
  );
  return flaps
    .filter((flap) => !isBacked(cast, flap, lives))
    .map(({ target, record }) => `${target} ${record.id}: not so`);
}

function isBacked(cast: Cast, { target, record }: Kept<EventRecord>, lives: readonly Life[]): boolean {
  const ok = record.result === 'success';
  const threshold = ok ? flapping.successThreshold : flapping.failureThreshold;
  const uncounted = ({ timeMs }: { readonly timeMs: number }) =>
    lives.some(({ killedMs }) => timeMs <= killedMs && timeMs > killedMs - uncountedMs);
  const counted = cast
    .answered(target)
    .filter((answer) => answer.timeMs <= record.timeMs && !(answer.ok !== ok && uncounted(answer)));
  const last = counted.slice(-threshold);
  return last.length === threshold && last.every((answer) => answer.ok === ok);
}

/** What is known of a counting target's run at a kill. */
export type Count = {
  readonly target: string;
  readonly streak: number;
  readonly run: number;
  readonly answered: number;
};

export const countsOf = (cast: Cast, snapshot: Snapshot): readonly Count[] =>
  snapshot.probes
    .filter(({ target }) => cast.families.get(target) === 'counting')
    .map((probe) => ({
      target: probe.target,
      streak: probe.record.streak,
      run: restoredRun(snapshot, probe),
      answered: cast.answered(probe.target).length,
    }));

/** Answers between the last checkpoint and the kill, and those that the checkpoint was a moment early for. */
const checkpointSlack = 4;
const checkpointMs = 60_000;

/**
 * A run length is at most the restored one and the probes of this life; less by at most the answers since the last
 * checkpoint. A life too short for a checkpoint leaves the restored run length. A prober that doubts itself, as on an
 * overloaded machine, does not count failures.
 */
export function countsHold(before: readonly Count[], after: readonly Count[], life: Life): Faults {
  const { readyMs = life.killedMs, killedMs, doubted } = life;
  // A slot that ended in this life ended its run, with a checkpoint, and the next run counts its own minutes.
  const slotBeganMs = slotAt({ from: 0, mode: 'resident' }, killedMs).endMs - residentSlotMs;
  const isOtherRun = slotBeganMs > readyMs && killedMs > slotBeganMs + promptMs;
  const livedMs = killedMs - (isOtherRun ? slotBeganMs : readyMs);
  const hasCheckpoint = livedMs >= checkpointMs || isOtherRun;
  const sinceCheckpointMs = livedMs % checkpointMs;
  return after.flatMap(({ target, streak, run, answered }) => {
    const earlier = before.find((count) => count.target === target);
    if (!earlier || earlier.streak !== streak) return [`${target}: its streak changed`];
    const probed = answered - earlier.answered;
    const most = earlier.run + probed;
    const least =
      hasCheckpoint && !doubted ? most - Math.ceil(sinceCheckpointMs / 1000) - checkpointSlack : earlier.run;
    return run > most || run < least ? [`${target}: run ${run}, not within ${least} to ${most}`] : [];
  });
}

/** The first instant from then on at which the process was up and stayed for long enough. */
export function upAt(lives: readonly Life[], timeMs: number): number {
  const life = lives.find(
    ({ readyMs, killedMs }) => readyMs !== undefined && killedMs - Math.max(readyMs, timeMs) > promptMs,
  );
  return Math.max(timeMs, life?.readyMs ?? Number.POSITIVE_INFINITY);
}

/** In the end every STATUS is up to date and its outbox is empty. */
export function everythingTakenIn({ statuses, targets, probes }: Snapshot): Faults {
  return [...statuses].flatMap(([name, status]) => {
    const unacked = probes.filter(
      ({ target, record }) => target === name && (status.acked[probeNameOf(record)] ?? 0) !== record.version,
    );
    const behind = status.observedResourceVersion !== targets.get(name)?.resourceVersion;
    return unacked.length > 0 || status.outbox.length > 0 || behind ? [`${name}: the status is behind`] : [];
  });
}
