/** Long work in slices, with a clock and turns of its own. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type Rest, sliceMs, slices } from '../../shared/lib/slices.ts';

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

/** Slices with a clock of their own, whose turns are run by hand. */
function handTurned() {
  let nowMs = 0;
  const next: (() => void)[] = [];
  const sliced = slices({
    monotonicMs: () => nowMs,
    nextTurn: (callback) => void next.push(callback),
    afterPromises: (callback) => setImmediate(callback),
  });
  return {
    ...sliced,
    take: (ms: number) => {
      nowMs += ms;
    },
    /** The next turn, and all that follows in it. */
    turn: async () => {
      for (const callback of next.splice(0)) callback();
      for (let hop = 0; hop < 20; hop += 1) await new Promise(setImmediate);
    },
  };
}

describe('work that goes on after something else', () => {
  test('waits for its slice, together with all other work', async () => {
    const sliced = handTurned();
    let done = 0;
    for (let at = 0; at < 6; at += 1)
      void sliced.pause().then(() => {
        done += 1;
        sliced.take(sliceMs / 2);
      });
    await new Promise(setImmediate);
    assert.equal(done, 0, 'before its turn');
    const turns: number[] = [];
    for (let at = 0; at < 3; at += 1) {
      await sliced.turn();
      turns.push(done);
    }
    assert.deepEqual(turns, [2, 4, 6]);
  });

  test('goes on within its piece while the slice lasts, and gives way then', async () => {
    const sliced = handTurned();
    let [steps, others] = [0, 0];
    const long = async () => {
      for (let at = 0; at < 6; at += 1) {
        await sliced.pause();
        steps += 1;
        sliced.take(sliceMs / 2);
      }
    };
    void long();
    await new Promise(setImmediate);
    sliced.add(() => {
      others += 1;
      return false;
    });
    await sliced.turn();
    assert.deepEqual([steps, others], [2, 0]);
    await sliced.turn();
    assert.deepEqual([steps, others], [4, 1], 'both have their part of the next turn');
  });
});

describe('after work that took far longer than its slice', () => {
  const pieceMs = 8 * sliceMs;

  type UntilIdle = NonNullable<Rest['untilIdle']>;

  /** Pieces of so many ms, with a rest that is as long as what exceeds a slice; returns when each began. */
  function beginnings(pieces: readonly number[], untilIdle?: (nowMs: () => number) => UntilIdle): readonly number[] {
    let nowMs = 0;
    let next: { readonly atMs: number; readonly callback: () => void } | undefined;
    const later = (ms: number, callback: () => void) => {
      next = { atMs: nowMs + ms, callback };
    };
    const msAfter = (tookMs: number) => Math.max(0, tookMs - sliceMs);
    const nextTurn = (callback: () => void) => later(1, callback);
    const monotonicMs = () => nowMs;
    const rest = { msAfter, later, ...(untilIdle && { untilIdle: untilIdle(monotonicMs) }) };
    const sliced = slices({ monotonicMs, nextTurn, rest });
    const began: number[] = [];
    for (const ms of pieces)
      sliced.add(() => {
        began.push(nowMs);
        nowMs += ms;
        return false;
      });
    for (let due = next; due !== undefined; due = next) {
      next = undefined;
      nowMs = Math.max(nowMs, due.atMs);
      due.callback();
    }
    return began;
  }

  test('other events have the loop for as long', () =>
    assert.deepEqual(beginnings([pieceMs, pieceMs, 1]), [
      1,
      1 + 2 * pieceMs - sliceMs,
      1 + 2 * (2 * pieceMs - sliceMs),
    ]));

  test('and what keeps to its slice has each turn', () =>
    assert.deepEqual(beginnings([sliceMs, sliceMs, sliceMs]), [1, sliceMs + 2, 2 * sliceMs + 3]));

  test('a busy loop has more of itself, until it has an idle moment', () => {
    const thrice = (tookMs: number) => 3 * tookMs;
    const never = () => ({ msAfter: thrice, isIdle: () => false });
    assert.deepEqual(beginnings([sliceMs, sliceMs], never), [1, 1 + 4 * sliceMs]);
    const soon = (nowMs: () => number) => ({ msAfter: thrice, isIdle: () => nowMs() >= 1 + 2 * sliceMs });
    assert.deepEqual(beginnings([sliceMs, sliceMs], soon), [1, 1 + 2 * sliceMs]);
  });
});
