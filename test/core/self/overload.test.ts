import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { afterLook, type LoadState, type Look, loadState } from '../../../shared/core/self/overload.ts';

const inTime: Look = { begun: 100, late: 0, isLateNow: false, reason: 'Cpu' };
const late: Look = { ...inTime, late: 50 };
const lookMs = 5_000;

/** The states after these looks, one each 5 s from time 0 on. */
function states(looks: readonly Look[], first: LoadState = loadState()): readonly LoadState[] {
  let state = first;
  return looks.map((look, at) => {
    state = afterLook(state, look, at * lookMs);
    return state;
  });
}

const times = (count: number, look: Look): readonly Look[] => Array.from({ length: count }, () => look);
const overloads = (looks: readonly Look[], first?: LoadState) => states(looks, first).map(({ overload }) => overload);

describe('a prober', () => {
  test('that begins late in six looks in a row is overloaded since the first of them', () => {
    const seen = overloads([inTime, ...times(6, late)]);
    assert.ok(seen.slice(0, 6).every((overload) => overload === undefined));
    assert.deepEqual(seen[6], { reason: 'Cpu', sinceMs: lookMs });
  });

  test('that catches up within half a minute after a pause is not', () =>
    assert.ok(overloads([...times(5, late), inTime, ...times(5, late)]).every((overload) => overload === undefined)));

  test('is overloaded until it has begun in time in six looks in a row', () => {
    const first = loadState({ reason: 'Cpu', sinceMs: 7 });
    const seen = overloads([...times(5, inTime), late, ...times(6, inTime)], first);
    assert.deepEqual(seen.indexOf(undefined), 11);
  });

  test('says what there is too little of now, and since when there has been too much to do', () => {
    const first = loadState({ reason: 'Cpu', sinceMs: 7 });
    assert.deepEqual(overloads([{ ...late, reason: 'Sockets' }], first), [{ reason: 'Sockets', sinceMs: 7 }]);
  });

  for (const [what, look, isBehind] of [
    ['a twentieth of whose probes begin late keeps up', { ...inTime, late: 5 }, false],
    ['a tenth of whose probes begin late does not', { ...inTime, late: 10 }, true],
    ['that begins nothing although something is late does not', { ...inTime, begun: 0, isLateNow: true }, true],
    ['that has nothing to begin keeps up', { ...inTime, begun: 0 }, false],
  ] as const)
    test(what, () => assert.equal(overloads(times(6, look)).at(-1) !== undefined, isBehind));
});
