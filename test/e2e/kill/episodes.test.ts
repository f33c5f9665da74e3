/** The judge of restart requests accepts a sound run and names each fault. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { EventRecord, RestartRequest, StatusRecord } from '../../../shared/core/spec/records.ts';
import * as judge from './episodes.ts';
import type { EpisodeEvent, Subscriber } from './heard.ts';
import type { Life } from './judge.ts';
import type { Snapshot } from './snapshot.ts';
import type { Cast, Family } from './targets.ts';

const beganMs = 1_800_000_000_000;
const failedAtMs = beganMs + 20_000;
const containerID = 'probelet://uid/app/0';
/** One process all the time, and a subscriber that hears all of it. */
const lives: readonly Life[] = [{ startedMs: beganMs, readyMs: beganMs + 500, killedMs: Number.POSITIVE_INFINITY }];
const castOf = (family: Family) => ({ families: new Map([['it', family]]) }) as unknown as Cast;

const event = (seconds: number, rest: Partial<EpisodeEvent>): EpisodeEvent =>
  ({
    target: 'it',
    failedAtMs,
    containerID,
    timeMs: failedAtMs + seconds * 1_000,
    heardAtMs: failedAtMs + seconds * 1_000 + 20,
    ...rest,
  }) as EpisodeEvent;
const requested = (attempt: number, seconds: number): EpisodeEvent =>
  event(seconds, { kind: 'requested', attempt, id: `it/${attempt}` });
const recovered = (attempts: number, seconds: number, id = 'it/recovered'): EpisodeEvent =>
  event(seconds, { kind: 'recovered', attempts, id });

const sound: readonly EpisodeEvent[] = [requested(1, 0), requested(2, 10), requested(3, 30), recovered(3, 36)];
const heardBy = (heard: readonly EpisodeEvent[], restarted: readonly string[] = []): Subscriber => ({
  heard,
  doubted: () => false,
  restarted: new Map([['it', new Set(restarted)]]),
  stop: () => Promise.resolve(),
});

type Shown = { readonly request?: Partial<RestartRequest>; readonly restartCount?: number };

function snapshotOf(records: readonly Partial<EventRecord>[], shown: Shown = {}): Snapshot {
  const { request, restartCount = 0 } = shown;
  const status = { containerStatuses: [{ restartCount }] };
  const restartRequests = request ? { app: { requestedAtMs: failedAtMs, ...request } } : {};
  return {
    timeMs: failedAtMs + 60_000,
    events: records.map((record) => ({ target: 'it', record })),
    statuses: new Map([['it', { status, restartRequests } as unknown as StatusRecord]]),
    targets: new Map([['it', { incarnations: { app: { restartCount } } }]]),
  } as unknown as Snapshot;
}

const turn = (seconds: number, rest: Partial<EventRecord>): Partial<EventRecord> => ({
  kind: 'transition',
  timeMs: failedAtMs + seconds * 1_000,
  containerID,
  ...rest,
});
const entry = (reason: string, seconds = 0): Partial<EventRecord> => ({ reason, timeMs: failedAtMs + seconds * 1_000 });
const history: readonly Partial<EventRecord>[] = [
  turn(-5, { result: 'success' }),
  turn(0, { result: 'failure', previousResult: 'success' }),
  entry('RestartRequested'),
  turn(35, { result: 'success', previousResult: 'failure' }),
];

/** Every rule, for what was heard, of a target that recovers. */
const faultsOf = (heard: readonly EpisodeEvent[], records = history): readonly string[] => [
  ...judge.everyAttemptMade(heardBy(heard), lives),
  ...judge.attemptsOnTime(castOf('recovering'), heardBy(heard), lives),
  ...judge.repeatedByKillsOnly(heardBy(heard), lives),
  ...judge.recoveredOnce(heardBy(heard)),
  ...judge.episodesAreTrue(castOf('recovering'), snapshotOf(records), { subscriber: heardBy(heard), lives }),
];

describe('the judge of restart requests', () => {
  test('finds nothing wrong with a sound episode', () => assert.deepEqual(faultsOf(sound), []));

  const wrong: readonly (readonly [what: string, heard: readonly EpisodeEvent[], fault: RegExp])[] = [
    ['an attempt that is left out', [requested(1, 0), requested(3, 30), recovered(3, 36)], /attempt 2 .* was not made/],
    ['a last attempt that is left out', [requested(1, 0), requested(2, 10), recovered(3, 36)], /attempt 3 .* not made/],
    ['an attempt before its back-off', [requested(1, 0), requested(2, 6)], /attempt 2 .* came -4000 ms after/],
    ['an attempt long after its back-off', [requested(1, 0), requested(2, 20)], /attempt 2 .* came 10000 ms after/],
    ['an attempt that comes twice', [...sound, requested(2, 10)], /it\/2 came 2 times from one process/],
    ['a second recovery', [...sound, recovered(3, 36, 'again')], /recovered 2 times/],
    ['an attempt after the recovery', [...sound, requested(4, 70)], /attempt 4 .* came after the recovery/],
    ['a recovery that is missing', sound.slice(0, -1), /nothing followed/],
  ];
  for (const [what, heard, fault] of wrong)
    test(`names ${what}`, () => assert.match(faultsOf(heard).join('\n'), fault));

  test('names a request while the container is well, and a failure without a request', () => {
    const early = [turn(-5, { result: 'success' }), entry('RestartRequested'), turn(0.5, { result: 'failure' })];
    const faults = faultsOf([], early).join('\n');
    assert.match(faults, /requested at .*, while well/);
    assert.match(faults, /nothing followed/);
  });

  test('names a request of no failure in the history', () => {
    const records = [turn(0, { result: 'failure' }), entry('RestartRequested', 1)];
    assert.match(faultsOf([requested(1, 0)], records).join('\n'), /it\/1 is of no failure/);
  });

  test('excuses an attempt that was made while no subscriber was connected, and a repetition by the next process', () => {
    const killedMs = failedAtMs + 10_400;
    const two: readonly Life[] = [
      { startedMs: beganMs, readyMs: beganMs + 500, killedMs },
      { startedMs: killedMs + 100, readyMs: killedMs + 600, killedMs: Number.POSITIVE_INFINITY },
    ];
    const unheard = heardBy([requested(1, 0), requested(3, 30)]);
    assert.deepEqual(judge.everyAttemptMade(unheard, two), []);
    const repeated = heardBy([requested(2, 10), { ...requested(2, 10), heardAtMs: killedMs + 2_000 }]);
    assert.deepEqual(judge.repeatedByKillsOnly(repeated, two), []);
  });

  test('names stored requests that are due early, go back, are overdue, or are behind what was published', () => {
    const at = (published: number, seconds: number) =>
      snapshotOf([], { request: { published, nextAtMs: failedAtMs + seconds * 1_000 } });
    const kept = (before: Snapshot, after: Snapshot) =>
      judge.requestsAreKept(before, after, heardBy(sound.slice(0, 2)));
    assert.deepEqual(kept(at(1, 10), at(2, 30)), []);
    assert.match(kept(at(1, 10), at(2, 29)).join(), /attempt 3 is due too early/);
    assert.match(kept(at(3, 70), at(2, 30)).join(), /attempts went back/);
    assert.match(kept(at(1, 10), at(1, 10)).join(), /it\/2 was published and is not stored/);
    assert.deepEqual(judge.noneOverdue(at(3, 70), lives), []);
    assert.match(judge.noneOverdue(at(2, 30), lives).join(), /attempt 3 was due 30000 ms ago/);
  });

  test('names restarts that were counted twice, not at all, or without a report', () => {
    const counted = (reports: readonly string[], restarts: number) => {
      const containers = Array.from({ length: restarts }, (_, at) => ({
        ...entry('Restarted'),
        containerID: `probelet://uid/app/${at + 1}`,
      }));
      const snapshot = snapshotOf([...history, ...containers], { restartCount: restarts });
      return judge.restartsCountedOnce(castOf('restarted'), snapshot, heardBy([], reports));
    };
    assert.deepEqual(counted([containerID], 1), []);
    assert.match(counted([containerID], 2).join(), /1 restarts reported, but counted 2, 2, 2, 2/);
    assert.match(counted([containerID], 0).join(), /1 restarts reported, but counted 0, 0, 0, 0/);
    assert.match(counted([], 1).join(), /0 restarts reported, but counted 1, 1, 1, 1/);
  });
});
