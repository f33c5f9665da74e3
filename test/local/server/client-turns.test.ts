/** How much of the event loop each part of the clients takes, without other work in it. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type ClientTurns, clientTurns } from '../../../functions/local/server/client-turns.ts';

const pieceMs = 0.5;
const loopMs = 10_000;
/** The first slice has no rest before it. */
const slack = 0.01;

/** The share of a loop that a part with endless work takes. `idlePart`: of the time that it leaves. */
function shareOf(part: keyof ClientTurns, idlePart: number): number {
  let [nowMs, workedMs] = [0, 0];
  let next: { readonly atMs: number; readonly callback: () => void } | undefined;
  const later = (ms: number, callback: () => void) => {
    // As Node's timers, which know whole milliseconds only.
    next = { atMs: nowMs + Math.max(1, Math.ceil(ms)), callback };
  };
  const turns = clientTurns(undefined, {
    monotonicMs: () => nowMs,
    nextTurn: (callback) => {
      next = { atMs: nowMs, callback };
    },
    later,
    idleMs: () => idlePart * (nowMs - workedMs),
  });
  turns[part].add(() => {
    nowMs += pieceMs;
    workedMs += pieceMs;
    return true;
  });
  for (let due = next; due !== undefined && nowMs < loopMs; due = next) {
    nowMs = Math.max(nowMs, due.atMs);
    due.callback();
  }
  return workedMs / nowMs;
}

describe('a part of the clients takes', () => {
  for (const [part, ofIdleLoop, ofBusyLoop] of [
    ['supervisors', 0.5, 0.2],
    ['known', 1, 0.2],
    ['newcomers', 0.2, 0.1],
    ['strangers', 0.1, 0.05],
  ] as const) {
    test(`${part}: at most ${ofIdleLoop} of a loop that is idle now and then`, () => {
      const share = shareOf(part, 1);
      assert.ok(share <= ofIdleLoop + slack && share > 0.8 * ofIdleLoop, `${share}`);
    });

    test(`${part}: at most ${ofBusyLoop} of one that is not`, () => {
      const share = shareOf(part, 0);
      assert.ok(share <= ofBusyLoop + slack && share > 0.8 * ofBusyLoop, `${share}`);
    });
  }
});
