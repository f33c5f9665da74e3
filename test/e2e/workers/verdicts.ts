/** What has to hold, whichever process is killed, stopped or replaced, and when. Each rule returns what breaks it. */
import type { EventRecord } from '../../../shared/core/spec/records.ts';
import type { Store } from '../../../shared/store/store.ts';
import type { ReadTarget } from '../../../shared/table/targets.ts';
import { until } from '../../support/wait.ts';
import { countingThreshold, flapMs, flapThreshold, periodMs, type Role } from './cast.ts';
import type { Arrival, Probed } from './probed.ts';
import { readStored, restartsOf, transitionsOf } from './table.ts';

export type Settled = ReadonlyMap<string, ReadTarget>;

export type Stored = { readonly store: Store; readonly roles: readonly Role[] };

/** Those whose results may never change again. */
const isStable = ({ family }: Role): boolean => family !== 'flapping' && family !== 'counting';

/** When the targets had settled, and what was stored of them. */
export type Begun = { readonly settled: Settled; readonly sinceMs: number };

/** What the faults have changed of targets whose results never change by themselves. */
export type Harm = { readonly changed: Faults; readonly failureCommits: Faults; readonly restarts: Faults };

export async function harmTo(stored: Stored, { settled, sinceMs }: Begun): Promise<Harm> {
  const now = await readAll(stored);
  return {
    changed: resultsChanged(stored.roles, settled, now),
    failureCommits: await failureCommits(stored, sinceMs),
    restarts: restarts(stored.roles, settled, now),
  };
}

export async function readAll({ store, roles }: Stored): Promise<Settled> {
  const read = roles.map(async ({ name }) => [name, await readStored(store, name)] as const);
  return new Map(await Promise.all(read));
}

const settling = { withinMs: 120_000, pollMs: 50 };

/** Reads until every target is in the state of its family. @throws after two minutes. */
export async function allSettled(stored: Stored, probed: Probed): Promise<Settled> {
  let open: readonly string[] = [];
  return until(
    () => open.join('; '),
    settling,
    async () => {
      const now = await readAll(stored);
      open = unsettled(stored.roles, now, probed);
      return open.length === 0 && now;
    },
  );
}

function unsettled(roles: readonly Role[], now: Settled, probed: Probed): readonly string[] {
  return roles
    .filter((role) => !isSettled(role, now.get(role.name), probed))
    .map(({ name, family }) => `${name} (${family}) has not settled`);
}

function isSettled({ name, family, paths }: Role, read: ReadTarget | undefined, probed: Probed): boolean {
  const records = Object.values(read?.probes ?? {});
  const success = records.length > 0 && records.every(({ result }) => result === 'success');
  switch (family) {
    case 'healthy':
    case 'edge-ready':
    case 'edge-live':
      return success && paths.every((path) => probed.arrivals(path).length > 3);
    case 'on-hold':
      // status-sync requests its restart once, after the commit.
      return records.some(({ onHold }) => onHold) && read !== undefined && restartsOf(read) > 0;
    case 'starting':
      return probed.arrivals(`/${name}/startup`).length > 3;
    case 'flapping':
    case 'counting':
      return records.some(({ version }) => version > 1);
  }
}

export type Faults = readonly string[];

/** Committed results, holds and containerIDs are what they were. */
export function resultsChanged(roles: readonly Role[], before: Settled, now: Settled): Faults {
  return roles.filter(isStable).flatMap(({ name }) => {
    const [was, is] = [committed(before.get(name)), committed(now.get(name))];
    return was === is ? [] : [`${name}: ${was} became ${is}`];
  });
}

const committed = (read: ReadTarget | undefined): string =>
  JSON.stringify(
    Object.entries(read?.probes ?? {}).map(([probe, { uid, result, version, onHold, containerID }]) => [
      probe,
      { uid, result, version, onHold, containerID },
    ]),
  );

function restarts(roles: readonly Role[], before: Settled, now: Settled): Faults {
  const count = (read: ReadTarget | undefined) => (read ? restartsOf(read) : Number.NaN);
  return roles
    .filter(({ name }) => count(before.get(name)) !== count(now.get(name)))
    .map(({ name }) => `${name}: restarts ${count(before.get(name))} became ${count(now.get(name))}`);
}

/** Committed failures of targets that never failed often enough. */
async function failureCommits({ store, roles }: Stored, sinceMs: number): Promise<Faults> {
  const published = roles.filter(isStable).map(async ({ name }) => {
    const transitions = await transitionsOf(store, name);
    return transitions
      .filter(({ result, timeMs }) => result === 'failure' && timeMs >= sinceMs)
      .map(({ id }) => `${name}: ${id}`);
  });
  return (await Promise.all(published)).flat();
}

/** Between an answer and what follows from it, on a busy machine. */
const arrivalSlackMs = 1_500;
/** Between the clocks of two processes of one machine. */
const clockSlackMs = 100;

/** The published results of flapping targets are what they answered, and every version is published once. */
export async function flapsUntrue({ store, roles }: Stored, probed: Probed): Promise<Faults> {
  const published = roles
    .filter(({ family }) => family === 'flapping')
    .map(async ({ name, paths: [path = ''] }) => {
      // Read before the history: the target flips between the two reads, too.
      const records = Object.values((await readStored(store, name)).probes);
      const transitions = await transitionsOf(store, name);
      const untrue = transitions
        .filter((flip, index) => !isBacked(flip, transitions[index - 1], probed.arrivals(path)))
        .map((flip) => `${name}: ${unbacked(flip, probed.arrivals(path))}`);
      const version = Math.max(...records.map((record) => record.version));
      return [...untrue, ...unpublished(transitions, version).map((wrong) => `${name}: ${wrong}`)];
    });
  return (await Promise.all(published)).flat();
}

/** Versions up to this one whose transition is missing, and those of all that have two. */
function unpublished(transitions: readonly EventRecord[], version: number): Faults {
  const counts = new Map<number, number>();
  for (const each of transitions.map(versionOf)) counts.set(each, (counts.get(each) ?? 0) + 1);
  const all = Array.from({ length: version }, (_, index) => index + 1);
  return [
    ...all.filter((each) => !counts.has(each)).map((each) => `version ${each} of ${version} is not published`),
    ...[...counts].filter(([, count]) => count > 1).map(([each]) => `version ${each} is published twice`),
  ];
}

/** It ends the ID. */
const versionOf = ({ id }: EventRecord): number => Number(id.slice(id.lastIndexOf('~') + 1));

/** After a take-over the new holder knows only the number of the earlier attempts, so as many answers must agree. */
function isBacked(
  { result, attempts, timeMs }: EventRecord,
  before: EventRecord | undefined,
  arrivals: readonly Arrival[],
): boolean {
  const alike = arrivals.filter(({ ok }) => ok === (result === 'success'));
  const isAnswered =
    attempts.length > 0 &&
    attempts.every(({ timeMs: startMs, timings }) =>
      alike.some(
        (arrival) =>
          arrival.timeMs > startMs - clockSlackMs && arrival.timeMs < startMs + timings.totalMs + clockSlackMs,
      ),
    );
  const sinceMs = (before?.timeMs ?? 0) - arrivalSlackMs;
  const since = alike.filter((arrival) => arrival.timeMs > sinceMs && arrival.timeMs < timeMs + arrivalSlackMs);
  return isAnswered && since.length >= flapThreshold;
}

/** The flip, and the arrivals around it. */
function unbacked({ id, timeMs, result, attempts }: EventRecord, arrivals: readonly Arrival[]): string {
  const fromMs = (attempts[0]?.timeMs ?? timeMs) - flapMs;
  const near = arrivals
    .filter((arrival) => arrival.timeMs > fromMs && arrival.timeMs < timeMs + arrivalSlackMs)
    .map((arrival) => `${arrival.timeMs} ${arrival.ok ? 'good' : 'bad'}`);
  const tried = attempts.map(
    (attempt) => `${attempt.timeMs} ${attempt.outcome} in ${attempt.timings.totalMs} ms (${attempt.output})`,
  );
  return `${id} to ${result} at ${timeMs} after ${tried.join(', ')} is not what was answered: ${near.join(', ')}`;
}

/** Latest time from the deciding answer to its commit. */
const commitSlackMs = 4_000;

/**
 * Each block of as many equal answers as the threshold flips the result at its end. `wrong`: a flip that came early, or
 * that belongs to no block: an answer was counted twice. `lost`: a block of successes without its flip: an answer was
 * not counted. `voided`: the same while the prober doubted itself, and blocks of failures, which a short stall voids.
 */
export type Miscounts = { readonly wrong: Faults; readonly lost: Faults; readonly voided: Faults };

/** Whether the prober of this target doubted itself at any time between, by its log: then no answer counts. */
export type Doubted = (name: string, fromMs: number, toMs: number) => boolean;

type Counting = { readonly probed: Probed; readonly doubted: Doubted };

export async function miscounted({ store, roles }: Stored, { probed, doubted }: Counting): Promise<Miscounts> {
  const counted = roles
    .filter(({ family }) => family === 'counting')
    .map(async ({ name, paths: [path = ''] }) => {
      const flips = await transitionsOf(store, name);
      return miscountsOf({ name, flips, blocks: blocksAt(probed.arrivals(path)), doubted });
    });
  const all = await Promise.all(counted);
  const of = (kind: keyof Miscounts): Faults => all.flatMap((each) => each[kind]);
  return { wrong: of('wrong'), lost: of('lost'), voided: of('voided') };
}

/** The last answer of each block that should have flipped by now. */
const blocksAt = (arrivals: readonly Arrival[]): readonly Arrival[] =>
  arrivals.filter(
    ({ timeMs }, index) => index % countingThreshold === countingThreshold - 1 && timeMs < Date.now() - commitSlackMs,
  );

type Counted = {
  readonly name: string;
  readonly flips: readonly EventRecord[];
  readonly blocks: readonly Arrival[];
  readonly doubted: Doubted;
};

const blockMsMax = 2 * countingThreshold * periodMs;

function miscountsOf({ name, flips, blocks, doubted }: Counted): Miscounts {
  const missed: { readonly lost: string[]; readonly voided: string[] } = { lost: [], voided: [] };
  const matched = new Set<EventRecord>();
  // There is no result before the first block.
  let good: boolean | undefined;
  for (const { timeMs, ok } of blocks) {
    // The previous block was missed, so this one changes nothing.
    if (ok === good) continue;
    const isDue = (flip: EventRecord) => flip.timeMs > timeMs - arrivalSlackMs && flip.timeMs < timeMs + commitSlackMs;
    const flip = flips.find((each) => (each.result === 'success') === ok && isDue(each));
    if (flip) {
      matched.add(flip);
      good = ok;
    } else
      missed[ok && !doubted(name, timeMs - blockMsMax, timeMs) ? 'lost' : 'voided'].push(
        `${name}: no flip to ${ok ? 'success' : 'failure'} at ${timeMs}`,
      );
  }
  const lastMs = blocks.at(-1)?.timeMs ?? 0;
  const wrong = flips.filter((flip) => !matched.has(flip) && flip.timeMs < lastMs);
  return { ...missed, wrong: wrong.map(({ id, result }) => `${name}: ${id} flipped to ${result} at the wrong time`) };
}

/** How many blocks were compared with their flips. */
export const blocksOf = (roles: readonly Role[], probed: Probed): number =>
  roles
    .filter(({ family }) => family === 'counting')
    .flatMap(({ paths }) => paths)
    .reduce((sum, path) => sum + Math.floor(probed.arrivals(path).length / countingThreshold), 0);

export type Probes = {
  readonly arrived: number;
  /** Sooner after the previous one than a ticker allows. */
  readonly duplicates: number;
};

const duplicatePart = 0.9;

export function probesOf(roles: readonly Role[], probed: Probed, sinceMs: number): Probes {
  const gaps = roles.flatMap(({ paths }) => paths.flatMap((path) => gapsOf(probed.arrivals(path), sinceMs)));
  return { arrived: gaps.length, duplicates: gaps.filter((gapMs) => gapMs < duplicatePart * periodMs).length };
}

/** The time between each arrival and the previous one. */
export const gapsOf = (arrivals: readonly Arrival[], sinceMs: number): readonly number[] =>
  arrivals.flatMap(({ timeMs }, index) => {
    const before = arrivals[index - 1];
    return before && timeMs >= sinceMs ? [timeMs - before.timeMs] : [];
  });

/** The longest time without an arrival of a probe around that instant; undefined: one has not arrived since. */
export function gapAround(roles: readonly Role[], probed: Probed, atMs: number): number | undefined {
  let longestMs = 0;
  for (const path of roles.flatMap(({ paths }) => paths)) {
    const arrivals = probed.arrivals(path);
    const next = arrivals.findLast(({ timeMs }) => timeMs > atMs) && arrivals.find(({ timeMs }) => timeMs > atMs);
    if (!next) return undefined;
    const last = arrivals.findLast(({ timeMs }) => timeMs <= atMs);
    longestMs = Math.max(longestMs, next.timeMs - (last?.timeMs ?? atMs));
  }
  return longestMs;
}
