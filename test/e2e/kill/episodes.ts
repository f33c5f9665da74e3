/** What has to hold of restart requests, whenever the product is killed. Each rule returns what breaks it. */
import type { EventRecord, RestartRequest } from '../../../shared/core/spec/records.ts';
import type { EpisodeEvent, Subscriber } from './heard.ts';
import { type Faults, type Life, promptMs, upAt } from './judge.ts';
import type { Snapshot } from './snapshot.ts';
import type { Cast, Family } from './targets.ts';

/** kubelet's crash-loop back-off, in ms, from one attempt to the next. */
export const backoffMs = (attempt: number): number => Math.min(300_000, 10_000 * 2 ** (attempt - 1));

/** From the first attempt to this one. */
const backoffsMs = (attempt: number): number =>
  Array.from({ length: attempt - 1 }, (_, index) => backoffMs(index + 1)).reduce((sum, ms) => sum + ms, 0);

/** An event has its time in whole seconds, rounded down. */
const roundedMs = 1_000;

const namesOf = ({ families }: Cast, wanted: readonly Family[]): readonly string[] =>
  [...families].flatMap(([name, family]) => (wanted.includes(family) ? [name] : []));

/** A request is stored before it is published, is never due too early, and its attempts never go back. */
export function requestsAreKept(before: Snapshot, after: Snapshot, { heard }: Subscriber): Faults {
  return [...after.statuses].flatMap(([name, { restartRequests }]) =>
    Object.values(restartRequests).flatMap((request) => {
      const earlier = Object.values(before.statuses.get(name)?.restartRequests ?? {}).find(
        ({ requestedAtMs }) => requestedAtMs === request.requestedAtMs,
      );
      return [
        ...(request.published < (earlier?.published ?? 0) ? [`${name}: attempts went back`] : []),
        ...(isTooEarly(request) ? [`${name}: attempt ${request.published + 1} is due too early`] : []),
        ...heard
          .filter(({ target, failedAtMs }) => target === name && failedAtMs === request.requestedAtMs)
          .filter((event) => event.kind === 'requested' && event.attempt > request.published)
          .map(({ id }) => `${name}: ${id} was published and is not stored`),
      ];
    }),
  );
}

const isTooEarly = ({ requestedAtMs, nextAtMs, published }: RestartRequest): boolean =>
  nextAtMs < requestedAtMs + backoffsMs(published + 1);

type Episode = {
  readonly target: string;
  readonly failedAtMs: number;
  /** By attempt, each as it was heard first. */
  readonly attempts: ReadonlyMap<number, EpisodeEvent>;
  /** How many there were in the end, as far as is known. */
  readonly last: number;
  readonly recovered?: EpisodeEvent;
};

function episodesOf(heard: readonly EpisodeEvent[]): readonly Episode[] {
  const groups = Map.groupBy(heard, ({ target, failedAtMs }) => `${target} ${failedAtMs}`);
  return [...groups.values()].flatMap((events) => {
    const [{ target, failedAtMs } = { target: '', failedAtMs: 0 }] = events;
    const attempts = new Map<number, EpisodeEvent>();
    for (const event of events)
      if (event.kind === 'requested' && !attempts.has(event.attempt)) attempts.set(event.attempt, event);
    const recovered = events.find(({ kind }) => kind === 'recovered');
    const last = recovered?.kind === 'recovered' ? recovered.attempts : 0;
    return {
      target,
      failedAtMs,
      attempts,
      last: Math.max(last, ...attempts.keys()),
      ...(recovered && { recovered }),
    };
  });
}

const shownOf = ({ target, failedAtMs }: Episode, attempt: number): string =>
  `${target}: attempt ${attempt} of the failure at ${failedAtMs}`;

/**
 * The attempts of each episode count up from 1. Only one that was due while no subscriber was connected may be missing.
 */
export function everyAttemptMade({ heard }: Subscriber, lives: readonly Life[]): Faults {
  return episodesOf(heard).flatMap((episode) =>
    Array.from({ length: episode.last }, (_, index) => index + 1)
      .filter((attempt) => !episode.attempts.has(attempt) && !isDeaf(lives, ...windowOf(episode, attempt)))
      .map((attempt) => `${shownOf(episode, attempt)} was not made`),
  );
}

/** The earliest and the latest time of a missing attempt, from the attempts before and after it. */
function windowOf({ attempts, failedAtMs, recovered }: Episode, missing: number): readonly [number, number] {
  const known = [...attempts].toSorted(([one], [other]) => one - other);
  const [before, earlier] = known.findLast(([attempt]) => attempt < missing) ?? [1, undefined];
  const [after, later] = known.find(([attempt]) => attempt > missing) ?? [missing, recovered];
  const apartMs = (from: number, to: number) => backoffsMs(to) - backoffsMs(from);
  const fromMs = (earlier?.timeMs ?? failedAtMs) + apartMs(before, missing);
  return [fromMs, (later?.heardAtMs ?? fromMs) - apartMs(missing, after)];
}

/** The subscriber may miss an event published shortly before a kill; it reconnects once the next process listens. */
const deafMs = 1_000;

/** Whether the subscriber may have missed an event of this time. */
function isDeaf(lives: readonly Life[], fromMs: number, toMs: number): boolean {
  return lives.some(({ startedMs, readyMs, killedMs }) => {
    const spans = [
      [startedMs, Math.min(killedMs, (readyMs ?? killedMs) + deafMs)],
      [killedMs - deafMs, killedMs],
    ] as const;
    return spans.some(([from, to]) => from <= toMs + roundedMs && to >= fromMs - roundedMs);
  });
}

/** Pauses are never shorter than the back-off, and not longer while the container keeps failing. */
export function attemptsOnTime(cast: Pick<Cast, 'families'>, { heard }: Subscriber, lives: readonly Life[]): Faults {
  return episodesOf(heard).flatMap((episode) =>
    [...episode.attempts].flatMap(([attempt, { timeMs }]) => {
      const before = episode.attempts.get(attempt - 1);
      if (!before) return [];
      const dueMs = before.timeMs + backoffMs(attempt - 1);
      // A container whose restart was reported has to fail again first.
      const waits = cast.families.get(episode.target) === 'restarted';
      const latestMs = upAt(lives, dueMs) + promptMs;
      return timeMs < dueMs - roundedMs || (timeMs > latestMs && !waits)
        ? [`${shownOf(episode, attempt)} came ${timeMs - dueMs} ms after its back-off`]
        : [];
    }),
  );
}

/** No request is overdue. One that waits for the first verdict of a restarted container is not due. */
export function noneOverdue({ statuses, timeMs }: Snapshot, lives: readonly Life[]): Faults {
  return [...statuses].flatMap(([name, { restartRequests }]) =>
    Object.values(restartRequests)
      .filter(({ answered, nextAtMs }) => !answered && timeMs > upAt(lives, nextAtMs) + promptMs)
      .map(({ published, nextAtMs }) => `${name}: attempt ${published + 1} was due ${timeMs - nextAtMs} ms ago`),
  );
}

/** A process publishes each event once; the next one repeats only what its predecessor left in an outbox. */
export function repeatedByKillsOnly({ heard }: Subscriber, lives: readonly Life[]): Faults {
  const lifeOf = ({ heardAtMs }: EpisodeEvent) => lives.findIndex(({ killedMs }) => heardAtMs <= killedMs);
  const groups = Map.groupBy(heard, (event) => `${lifeOf(event)} ${event.id}`);
  return [...groups.values()].flatMap(([first, ...more]) =>
    first && more.length > 0 ? [`${first.target}: ${first.id} came ${more.length + 1} times from one process`] : [],
  );
}

/** An episode has at most one recovery, which counts its attempts and ends them. */
export function recoveredOnce({ heard }: Subscriber): Faults {
  return episodesOf(heard).flatMap((episode) => {
    const { target, failedAtMs, attempts, recovered } = episode;
    if (recovered?.kind !== 'recovered') return [];
    const all = heard.filter((event) => event.target === target && event.failedAtMs === failedAtMs);
    const ids = new Set(all.filter(({ kind }) => kind === 'recovered').map(({ id }) => id));
    return [
      ...(ids.size > 1 ? [`${target}: recovered ${ids.size} times from the failure at ${failedAtMs}`] : []),
      ...[...attempts]
        .filter(([attempt, { timeMs }]) => attempt > recovered.attempts || timeMs > recovered.timeMs)
        .map(([attempt]) => `${shownOf(episode, attempt)} came after the recovery`),
    ];
  });
}

/** Each request follows a stored failure; each lasting failure has a request, and each success after it a recovery. */
export function episodesAreTrue(cast: Cast, { events, timeMs }: Snapshot, judged: Judged): Faults {
  const { heard } = judged.subscriber;
  return namesOf(cast, ['crashing', 'recovering', 'restarted']).flatMap((name) => {
    const records = events.filter(({ target }) => target === name).map(({ record }) => record);
    const begun = new Set(records.filter(({ reason }) => reason === 'RestartRequested').map((each) => each.timeMs));
    const turns = records.filter(({ kind }) => kind === 'transition');
    return [
      ...[...begun]
        .filter((atMs) => !isFailing(turns, atMs))
        .map((atMs) => `${name}: requested at ${atMs}, while well`),
      ...heard
        .filter(({ target, failedAtMs }) => target === name && !begun.has(failedAtMs))
        .map(({ id }) => `${name}: ${id} is of no failure in its history`),
      ...turns.flatMap((turn, index) =>
        isAnswered(turn, { begun, endMs: turns[index + 1]?.timeMs ?? timeMs, name, ...judged })
          ? []
          : [`${name}: nothing followed from ${turn.id}`],
      ),
    ];
  });
}

export type Judged = { readonly subscriber: Subscriber; readonly lives: readonly Life[] };

const isFailing = (turns: readonly EventRecord[], atMs: number): boolean =>
  turns.findLast(({ timeMs }) => timeMs <= atMs)?.result === 'failure';

type Turn = Judged & { readonly begun: ReadonlySet<number>; readonly endMs: number; readonly name: string };

/** Soon after a failure there is a request, and soon after the next success a recovery, unless the process was down. */
function isAnswered({ timeMs, result, previousResult, containerID }: EventRecord, turn: Turn): boolean {
  const { begun, endMs, name, lives, subscriber } = turn;
  const latestMs = upAt(lives, timeMs) + promptMs;
  if (latestMs > endMs) return true;
  const isInTime = (atMs: number) => atMs >= timeMs && atMs <= latestMs;
  if (result === 'failure') return [...begun].some(isInTime);
  if (previousResult !== 'failure') return true;
  const isIt = (event: EpisodeEvent) =>
    event.target === name && event.kind === 'recovered' && event.containerID === containerID;
  const hears = subscriber.heard.some((event) => isIt(event) && isInTime(event.timeMs + roundedMs));
  return hears || isDeaf(lives, timeMs, latestMs);
}

/** A static container has as many restarts, and containerIDs after the first, as were reported. */
export function restartsCountedOnce(
  cast: Cast,
  { events, statuses, targets }: Snapshot,
  subscriber: Subscriber,
): Faults {
  return namesOf(cast, ['crashing', 'recovering', 'restarted']).flatMap((name) => {
    const reported = subscriber.restarted.get(name)?.size ?? 0;
    const records = events.filter(({ target }) => target === name).map(({ record }) => record);
    const restarted = records.filter(({ reason }) => reason === 'Restarted').length;
    const shown = statuses.get(name)?.status.containerStatuses[0]?.restartCount;
    const stored = targets.get(name)?.incarnations?.app?.restartCount;
    const containers = new Set(records.flatMap(({ containerID }) => containerID ?? []));
    const counts = [restarted, shown, stored, containers.size - 1];
    return counts.every((count) => count === reported)
      ? []
      : [`${name}: ${reported} restarts reported, but counted ${counts.join(', ')}`];
  });
}
