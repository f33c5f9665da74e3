/** When the next transaction may begin, for a row of answers that take so long. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { transactionPace } from '../../../shared/run/commit/transaction-pace.ts';

const intervalMs = 31.25;

function pacing() {
  let nowMs = 10_000;
  const pace = transactionPace({ nowMs: () => 0, monotonicMs: () => nowMs, setTimer: () => () => undefined });
  const pass = (ms: number) => {
    nowMs += ms;
  };
  /** One transaction after the other, each with an answer after so long. */
  const answered = (...tookMs: readonly number[]) => {
    for (const ms of tookMs) {
      const end = pace.begin();
      pass(ms);
      end();
    }
  };
  /** How many begin before the pace refuses one. */
  const together = () => {
    const ends: (() => void)[] = [];
    while (pace.mayBegin() && ends.length < 20) ends.push(pace.begin());
    for (const end of ends) end();
    return ends.length;
  };
  return { pace, pass, answered, together, now: () => nowMs };
}

test('the first transaction begins at once, the next one 1/32 s after it', () => {
  const { pace, pass, now } = pacing();
  assert.equal(pace.inMs(now()), 0);
  pace.begin();
  assert.equal(pace.inMs(now()), intervalMs);
  pass(20);
  assert.equal(pace.inMs(now()), intervalMs - 20);
  pass(20);
  assert.ok(pace.inMs(now()) <= 0);
});

test('a bucket that is ready later is waited for, and one that never is for ever', () => {
  const { pace, now } = pacing();
  pace.begin();
  assert.equal(pace.inMs(now() + 500), 500);
  assert.equal(pace.inMs(now() + 1), intervalMs);
  assert.equal(pace.inMs(Number.POSITIVE_INFINITY), Number.POSITIVE_INFINITY);
});

test('eight are under way at once', () => {
  const { pace, together } = pacing();
  assert.equal(pace.isIdle(), true);
  assert.equal(together(), 8);
  assert.equal(pace.isIdle(), true);
  const end = pace.begin();
  assert.equal(pace.isIdle(), false);
  end();
  assert.equal(pace.isIdle(), true);
});

const rows: readonly (readonly [what: string, tookMs: readonly number[], together: number])[] = [
  ['an answer after 500 ms is not slow', [500], 8],
  ['a slower one halves them', [501], 4],
  ['a second one, too', [501, 501], 2],
  ['a third one leaves one', [501, 501, 501], 1],
  ['there is always one', [501, 501, 501, 501, 501], 1],
  ['a faster answer adds one', [501, 501, 20], 3],
  ['five add one each', [501, 501, 20, 20, 20, 20, 20], 7],
  ['there are never more than eight', [20, 20, 20], 8],
  ['half of an odd number is rounded down', [501, 501, 20, 501], 1],
];

for (const [what, tookMs, most] of rows)
  test(`${what}: ${most} at once after answers of ${tookMs.join(', ')} ms, and as much slower`, () => {
    const { pace, pass, answered, together, now } = pacing();
    answered(...tookMs);
    pass(1_000);
    const end = pace.begin();
    assert.equal(Math.round(pace.inMs(now())), Math.round((intervalMs * 8) / most));
    assert.equal(1 + together(), most);
    end();
  });
