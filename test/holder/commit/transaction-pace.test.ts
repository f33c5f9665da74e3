/** When the next transaction may begin, for a row of answers that take so long. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { transactionPace } from '../../../shared/holder/commit/queue.ts';
import { seededRandom } from '../../support/seeded-random.ts';

const intervalMs = 31.25;

function pacing() {
  let nowMs = 10_000;
  const clock = { nowMs: () => 0, monotonicMs: () => nowMs, setTimer: () => () => undefined };
  const pace = transactionPace({ clock, random: seededRandom(1) });
  const pass = (ms: number) => {
    nowMs += ms;
  };
  /** One transaction after the other, each with an answer after so long. */
  const answered = (...tookMs: readonly number[]) => {
    for (const ms of tookMs) {
      const end = pace.begin(100);
      pass(ms);
      end('over');
    }
  };
  /** How many begin before the pace refuses one. */
  const together = () => {
    const ends: ReturnType<typeof pace.begin>[] = [];
    while (pace.mayBegin() && ends.length < 20) ends.push(pace.begin(100));
    for (const end of ends) end('over');
    return ends.length;
  };
  return { pace, pass, answered, together, now: () => nowMs };
}

test('the first transaction begins at once, the next one 1/32 s after it', () => {
  const { pace, pass, now } = pacing();
  assert.equal(pace.inMs(now()), 0);
  pace.begin(100);
  assert.equal(pace.inMs(now()), intervalMs);
  pass(20);
  assert.equal(pace.inMs(now()), intervalMs - 20);
  pass(20);
  assert.ok(pace.inMs(now()) <= 0);
});

test('a bucket that is ready later is waited for, and one that never is for ever', () => {
  const { pace, now } = pacing();
  pace.begin(100);
  assert.equal(pace.inMs(now() + 500), 500);
  assert.equal(pace.inMs(now() + 1), intervalMs);
  assert.equal(pace.inMs(Number.POSITIVE_INFINITY), Number.POSITIVE_INFINITY);
});

test('eight are under way at once', () => {
  const { pace, together } = pacing();
  assert.equal(pace.isIdle(), true);
  assert.equal(together(), 8);
  assert.equal(pace.isIdle(), true);
  const end = pace.begin(100);
  assert.equal(pace.isIdle(), false);
  end('over');
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
    const end = pace.begin(100);
    assert.equal(Math.round(pace.inMs(now())), Math.round((intervalMs * 8) / most));
    assert.equal(1 + together(), most);
    end('over');
  });

/** Operations a second, as the wait after a transaction of 100 shows it. */
function rateOf({ pace, pass, now }: Pick<ReturnType<typeof pacing>, 'pace' | 'pass' | 'now'>): number {
  pass(10_000);
  const end = pace.begin(100);
  const rate = 100_000 / pace.inMs(now());
  pass(10_000);
  end('over');
  return Math.round(rate);
}

test('a throttled transaction halves the operations a second, a written one adds 16', () => {
  const { pace, pass, answered, now } = pacing();
  const throttle = () => {
    const end = pace.begin(100);
    pass(10);
    end('throttled');
    pass(2_000);
  };
  throttle();
  throttle();
  assert.equal(rateOf({ pace, pass, now }), 800);
  answered(20, 20);
  assert.equal(rateOf({ pace, pass, now }), 848);
  for (let times = 0; times < 30; times += 1) throttle();
  assert.equal(rateOf({ pace, pass, now }), 4);
});

test('those that are throttled together halve it once, and those that had begun before add nothing', () => {
  const { pace, pass, now } = pacing();
  const ends = Array.from({ length: 8 }, () => pace.begin(100));
  pass(10);
  for (const end of ends.slice(0, 4)) end('throttled');
  for (const end of ends.slice(4)) end('over');
  assert.equal(rateOf({ pace, pass, now }), 1_600);
});

test('the pause after a throttle doubles until one is written, and is at most 2 s', () => {
  const { pace, pass, answered, now } = pacing();
  const pauses: number[] = [];
  const throttle = () => {
    pass(10_000);
    pace.begin(1)('throttled');
    pauses.push(pace.inMs(now()));
  };
  for (let times = 0; times < 9; times += 1) throttle();
  for (const [index, pause] of pauses.entries()) {
    const bound = Math.min(2_000, 50 * 2 ** index);
    assert.ok(pause >= bound / 2 && pause <= Math.max(bound, 250), `pause ${index}: ${pause} ms`);
  }
  pass(10_000);
  answered(20);
  pass(60_000);
  throttle();
  assert.ok((pauses.at(-1) ?? 0) <= 250);
});

test('a slower queue makes smaller transactions', () => {
  const { pace, pass } = pacing();
  assert.equal(pace.operations(), 100);
  const sizes = Array.from({ length: 10 }, () => {
    pace.begin(1)('throttled');
    pass(10_000);
    return pace.operations();
  });
  assert.deepEqual(sizes, [100, 100, 50, 25, 12, 6, 4, 4, 4, 4]);
});

test('the table is scarce for 10 s after a throttle', () => {
  const { pace, pass } = pacing();
  assert.equal(pace.isScarce(), false);
  pace.begin(1)('throttled');
  assert.equal(pace.isScarce(), true);
  pass(9_999);
  assert.equal(pace.isScarce(), true);
  pass(1);
  assert.equal(pace.isScarce(), false);
});
