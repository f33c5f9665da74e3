/** The judge of the trial accepts a sound run and names each fault. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { ContainerStatusView, ProbeStatusView } from '../../../shared/api/schema/target-schema.ts';
import type { ProbeType } from '../../../shared/core/spec/types.ts';
import { type Row, rows } from './cases.ts';
import { judge } from './judge.ts';
import type { Entry, Observer, Sample, Seen } from './observer.ts';

/** Readiness each second and liveness every 2 s, both with three failures; startup, which is over. */
const row = rows.find(({ name }) => name === 'nginx-stop') as Row;
const types: readonly ProbeType[] = ['startup', 'readiness', 'liveness'];
const startMs = 1_800_000_000_000;
const at = (seconds: number): number => startMs + seconds * 1_000;
/** A fault of 60 s; both probes fail 4 s after its beginning and succeed 1 s after its end. */
const times = { fromMs: at(0), beganMs: at(0.1), endingMs: at(60), wellMs: at(60.2), doneMs: at(70) };
const failsAt = 4;
const succeedsAt = 61;
const containerID = 'probelet://uid/app/0';

const isDown = (seconds: number): boolean => seconds >= failsAt && seconds < succeedsAt;
const beganAt = (seconds: number): number => (seconds < failsAt ? -10 : isDown(seconds) ? failsAt : succeedsAt);

function probeAt(probeType: ProbeType, seconds: number): ProbeStatusView {
  const isSuccess = probeType === 'startup' || !isDown(seconds);
  const sinceMs = at(probeType === 'startup' ? -10 : beganAt(seconds));
  const common = { container: 'app', probeType, since: new Date(sinceMs).toISOString(), onHold: false, version: 1 };
  return isSuccess ? { ...common, result: 'success' } : { ...common, result: 'failure', output: 'refused' };
}

const container: ContainerStatusView = {
  ...{ name: 'app', containerID, restartCount: 0, ready: true, lastState: {} },
  state: { running: { startedAt: '2027-01-15T08:00:00Z' } },
};

const sampleAt = (seconds: number): Sample => ({
  atMs: at(seconds),
  ready: isDown(seconds) ? 'False' : 'True',
  container,
  probes: types.map((type) => probeAt(type, seconds)),
});

const entryAt = (probeType: ProbeType, seconds: number): Entry => {
  const { result, since } = probeAt(probeType, seconds);
  return { time: since, kind: 'transition', reason: 'ProbeResultChanged', probeType, result, attempts: [{ since }] };
};

const heldAt = (atMs: number) => (entry: Entry) => ({ ...entry, attempts: [{ atMs }] });

const everyHalfSecond = Array.from({ length: 140 }, (_, index) => index / 2);
const looks = [0, 5, 30, 59, 64, 69];
type Shown = Seen & Pick<Observer, 'heard' | 'starvedMs'>;

const sound: Shown = {
  samples: everyHalfSecond.map(sampleAt),
  turns: (['readiness', 'liveness'] as const).flatMap((probeType) => [
    { atMs: at(failsAt), probeType, result: 'failure' },
    { atMs: at(succeedsAt), probeType, result: 'success' },
  ]),
  histories: looks.map((seconds) => ({ atMs: at(seconds), entries: types.map((type) => entryAt(type, seconds)) })),
  stalls: [],
  starvedMs: [],
  heard: [
    ...[failsAt, failsAt + 10, failsAt + 30].map((seconds, index) => ({
      ...eventAt(seconds),
      ...{ kind: 'requested' as const, attempt: index + 1, id: `it/${index + 1}` },
    })),
    { ...eventAt(succeedsAt), kind: 'recovered', attempts: 3, id: 'it/recovered' },
  ],
};

function eventAt(seconds: number) {
  return { target: row.name, failedAtMs: at(failsAt), containerID, timeMs: at(seconds), heardAtMs: at(seconds) };
}

function faultsOf(changed: Partial<Shown>, judged: Row = row): string {
  const { heard, starvedMs, ...seen } = { ...sound, ...changed };
  const heardOf = heard.map((event) => ({ ...event, target: judged.name }));
  const observer = { of: () => seen, heard: heardOf, starvedMs } as unknown as Observer;
  return judge(judged, times, observer).faults.join('\n');
}

/** The sound samples, with others in a span of seconds. */
const between = (from: number, to: number, change: (sample: Sample, seconds: number) => Sample): Sample[] =>
  everyHalfSecond.map((seconds) =>
    seconds >= from && seconds < to ? change(sampleAt(seconds), seconds) : sampleAt(seconds),
  );

const withProbe = (sample: Sample, type: ProbeType, change: Partial<ProbeStatusView>): Sample => ({
  ...sample,
  probes: sample.probes.map((probe) => (probe.probeType === type ? { ...probe, ...change } : probe)),
});

const restarted = (change: Partial<ContainerStatusView>) =>
  between(30, 40, (sample) => ({ ...sample, container: { ...container, ...change } }));

describe('the judge of the trial', () => {
  test('finds nothing wrong with a sound run', () => assert.equal(faultsOf({}), ''));

  const wrong: readonly (readonly [what: string, changed: object, fault: RegExp])[] = [
    ['a target that stays Ready for too long', { samples: between(0, 8, () => sampleAt(0)) }, /^not Ready after 7.9 s/],
    [
      'a target that is Ready in between',
      { samples: between(30, 31, (sample) => ({ ...sample, ready: 'True' })) },
      /^Ready is True 29.9 s into the fault/,
    ],
    ['a target that is Ready too late', { samples: between(61, 66, () => sampleAt(59)) }, /^Ready after 5.8 s/],
    [
      'a result that is unknown in between',
      { samples: between(30, 31, (sample) => withProbe(sample, 'readiness', { result: 'unknown' })) },
      /^readiness is unknown 29.9 s into/,
    ],
    [
      'a change to success and back that no look has seen',
      {
        turns: [
          ...sound.turns.slice(0, 1),
          ...(['success', 'failure'] as const).map((result) => ({ atMs: at(20), probeType: 'readiness', result })),
          ...sound.turns.slice(1),
        ],
      },
      /^readiness has changed to failure,success,failure,success/,
    ],
    ['a restart', { samples: restarted({ restartCount: 1 }) }, /a restart is shown/],
    ['a containerID that was never reported', { samples: restarted({ containerID: 'other' }) }, /2 containerIDs/],
    [
      'an exit code that no process returned',
      { samples: restarted({ lastState: { terminated: { exitCode: 137 } } }) },
      /a restart is shown: .*137/,
    ],
    [
      'a container that waits',
      { samples: restarted({ state: { waiting: { reason: 'CrashLoopBackOff' } } }) },
      /a restart is shown: .*CrashLoopBackOff/,
    ],
    ['an attempt that is left out', { heard: sound.heard.filter((_, index) => index !== 1) }, /attempt 2 .* not made/],
    [
      'attempts that end',
      { heard: sound.heard.filter((_, index) => index !== 2) },
      /no attempt follows the 2|attempt 3/,
    ],
    ['a recovery that is missing', { heard: sound.heard.slice(0, -1) }, /^0 recoveries/],
    [
      'a counter that stalls',
      { stalls: [{ probeType: 'liveness', fromMs: at(10), toMs: at(20) }] },
      /^liveness is not counted for 10.0 s/,
    ],
    [
      'a result whose beginning jumps',
      { samples: between(30, 70, (sample) => withProbe(sample, 'startup', { since: new Date(at(30)).toISOString() })) },
      /^startup jumps/,
    ],
    [
      'an output that goes while the result stays',
      { samples: between(30, 61, (sample) => withProbe(sample, 'liveness', { output: '' })) },
      /^liveness jumps/,
    ],
    [
      'attempts that are lost',
      { histories: sound.histories.map((look) => ({ ...look, entries: look.entries.slice(0, 2) })) },
      /^the attempts behind liveness are not kept/,
    ],
    [
      'attempts that change while the result stays',
      { histories: sound.histories.map((look) => ({ ...look, entries: look.entries.map(heldAt(look.atMs)) })) },
      /^the attempts behind startup are not kept/,
    ],
    ['a history that is not read', { histories: [] }, /^the history was not read/],
    [
      'an entry of a restart',
      { histories: sound.histories.map((look) => ({ ...look, entries: [...look.entries, killing()] })) },
      /^the history has Killing/,
    ],
  ];
  for (const [what, changed, fault] of wrong) test(`names ${what}`, () => assert.match(faultsOf(changed), fault));

  test('knows a failure that no look has met by what the history keeps of it', () => {
    const all = (seconds: number) => [-10, 30, 64].filter((one) => one <= seconds);
    const kept = (seconds: number) => types.flatMap((type) => all(seconds).map((one) => entryAt(type, one)));
    const histories = [0, 64, 69].map((seconds) => ({ atMs: at(seconds), entries: kept(seconds) }));
    assert.equal(faultsOf({ histories }), '');
    const gone = histories.map((look) => ({
      ...look,
      entries: look.entries.filter(({ result }) => result === 'success'),
    }));
    assert.match(faultsOf({ histories: gone }), /^the attempts behind readiness are not kept/);
  });

  test('expects a failure a period later where the product has waited for a processor', () => {
    const samples = between(0, 8, () => sampleAt(0));
    const late = (starvedAt: readonly number[]) => faultsOf({ samples, starvedMs: starvedAt.map(at) });
    assert.equal(late([2, 4]), '');
    assert.match(late([2.2, 2.6]), /^not Ready after 7.9 s/);
    assert.match(late([-1, 20]), /^not Ready after 7.9 s/);
  });

  test('names a probe that fails although the fault spares it', () => {
    const probes = row.probes.map((probe) => ({ ...probe, isSpared: probe.type !== 'readiness' }));
    assert.match(faultsOf({}, { ...row, probes }), /liveness has changed to failure,success/);
  });
});

function killing(): Entry {
  return { time: new Date(at(5)).toISOString(), kind: 'recorded', reason: 'Killing', attempts: [] };
}
