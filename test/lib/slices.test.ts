/** Long work in slices, with a clock and turns of its own. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { sliceMs, slices } from '../../shared/lib/slices.ts';

/** Each piece of work takes `pieceMs`; returns what was done, turn by turn. */
function turnsOf(pieces: Readonly<Record<string, number>>, pieceMs: number): readonly string[] {
  let nowMs = 0;
  let next: (() => void) | undefined;
  const sliced = slices({
    monotonicMs: () => nowMs,
    nextTurn: (callback) => {
      next = callback;
    },
  });
  let done = '';
  for (const [name, count] of Object.entries(pieces)) {
    let left = count;
    sliced.add(() => {
      nowMs += pieceMs;
      done += name;
      left -= 1;
      return left > 0;
    });
  }
  const turns: string[] = [];
  for (let run = next; run !== undefined; run = next) {
    next = undefined;
    done = '';
    run();
    turns.push(done);
  }
  return turns;
}

describe('work in slices', () => {
  test('is done piece by piece in turn', () => assert.deepEqual(turnsOf({ a: 3, b: 1, c: 2 }, 0), ['abcaca']));

  test('gets a few milliseconds of each turn', () =>
    assert.deepEqual(turnsOf({ a: 4, b: 4 }, sliceMs / 2), ['ab', 'ab', 'ab', 'ab']));

  test('goes on with those that have waited longest', () =>
    assert.deepEqual(turnsOf({ a: 2, b: 2, c: 2 }, sliceMs / 2), ['ab', 'ca', 'bc']));

  test('is done in the end, though a piece takes longer than a slice', () =>
    assert.deepEqual(turnsOf({ a: 2, b: 1 }, 2 * sliceMs), ['a', 'b', 'a']));
});
