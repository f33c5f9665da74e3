import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import {
  dueMs,
  holdTick,
  holdTrigger,
  isPendingAtHandover,
  loadedTicker,
  newTargetTicker,
  passTime,
  pendingTicker,
  phaseOf,
  readyWakes,
  shiftTicker,
  spaceOut,
  takenOverTicker,
  takeWake,
} from '../../../shared/core/kubelet/ticker.ts';

const nowMs = fc.integer({ min: 0, max: 4e12 });
const phased = fc
  .record({ hash32: fc.integer({ min: 0, max: 2 ** 32 - 1 }), periodMs: fc.integer({ min: 1, max: 3600 }) })
  .map(({ hash32, periodMs }) => phaseOf(hash32, periodMs * 1000));

describe('the hashed phase', () => {
  test('a new target is probed at once, then at its first instant at least 0.9 period later', () => {
    fc.assert(
      fc.property(nowMs, phased, (now, phase) => {
        const ticker = newTargetTicker(now, phase);
        assert.deepEqual(readyWakes(ticker), ['tick']);
        assert.equal(ticker.nextTickMs % phase.periodMs, phase.phaseMs);
        const gapMs = ticker.nextTickMs - now;
        assert.ok(gapMs >= 0.9 * phase.periodMs && gapMs < 1.9 * phase.periodMs + 1);
      }),
    );
  });

  test('a loaded one waits for its instant', () => {
    fc.assert(
      fc.property(nowMs, phased, (now, phase) => {
        const ticker = loadedTicker(now, phase);
        assert.deepEqual(readyWakes(ticker), []);
        assert.equal(ticker.nextTickMs % phase.periodMs, phase.phaseMs);
        const waitMs = dueMs(ticker, now) - now;
        assert.ok(waitMs >= 0 && waitMs < phase.periodMs);
      }),
    );
  });

  test('a trigger shifts it until the next load', () => {
    const phase = phaseOf(3_000, 10_000);
    const triggered = takeWake(holdTrigger(loadedTicker(100_000, phase)), 'trigger', 101_000);
    assert.equal(dueMs(triggered, 101_000), 111_000);
    assert.equal(passTime(triggered, 111_000).nextTickMs, 121_000);
    assert.equal(dueMs(loadedTicker(112_000, phase), 112_000), 113_000);
  });
});

describe('an instant that came while the shard had no holder', () => {
  /**
   * When the worker probes that had no holder from `sinceMs` until 100,000, of a period and with instants at its
   * multiples.
   */
  const probesAt = (periodMs: number, sinceMs: number, inOrder = false): number =>
    dueMs(takenOverTicker(100_000 - 1, phaseOf(0, periodMs), { sinceMs, inOrder }), 100_000 - 1);

  test('is made up for at once where the next one is too far', () => {
    assert.equal(probesAt(30_000, 89_000), 99_999);
    assert.equal(probesAt(30_000, 75_000), 99_999);
    assert.equal(probesAt(60_000, 50_000), 99_999);
    assert.equal(probesAt(5_000, 94_000), 99_999);
  });

  test('is left out where the next one is soon enough', () => {
    assert.equal(probesAt(1_000, 98_500), 100_000);
    assert.equal(probesAt(10_000, 75_000), 100_000);
  });

  test('is made up for at once if the last holder has ended in order, however long that took', () => {
    assert.equal(probesAt(20_000, 79_000), 100_000, 'of one that has crashed');
    assert.equal(probesAt(20_000, 79_000, true), 99_999);
  });

  test('is none: the worker waits for its phase', () => assert.equal(probesAt(30_000, 91_000), 120_000));

  test('is owed by a run that ends while its worker is off its phase', () => {
    const phase = phaseOf(15_000, 30_000);
    const returning = takeWake(pendingTicker(100_000, phase), 'tick', 100_000);
    assert.equal(dueMs(returning, 100_000), 127_000);
    assert.equal(isPendingAtHandover(returning, 104_000, phase), false, 'its next instant comes sooner');
    assert.equal(isPendingAtHandover(returning, 106_000, phase), true, 'its next instant is at 135,000');
    const triggered = takeWake(holdTrigger(loadedTicker(76_000, phase)), 'trigger', 80_000);
    assert.equal(isPendingAtHandover(triggered, 106_000, phase), true, 'its next tick is at 110,000');
    assert.equal(isPendingAtHandover(loadedTicker(106_000, phase), 106_000, phase), false);
  });

  test('is never served later than 5 s after a hand-over, 25 s after a crash, by clocks that are 4 s apart', () => {
    const unheldMs = fc.integer({ min: 0, max: 22_000 });
    fc.assert(
      fc.property(fc.integer({ min: 1e6, max: 4e12 }), phased, unheldMs, fc.boolean(), (now, phase, gapMs, inOrder) => {
        const since = now - gapMs;
        const missedMs = Math.ceil((since - phase.phaseMs) / phase.periodMs) * phase.periodMs + phase.phaseMs;
        const servedMs = dueMs(takenOverTicker(now, phase, { sinceMs: since, inOrder }), now);
        const allowedMs = gapMs > 15_000 && !inOrder ? Math.max(21_000, gapMs) : Math.max(1_000, gapMs);
        assert.ok(servedMs - missedMs <= allowedMs || missedMs >= now, `${servedMs - missedMs} ms`);
      }),
    );
  });
});

test('ticks that were missed leave one held tick and the phase', () => {
  const ticker = passTime(loadedTicker(0, phaseOf(0, 1_000)), 5_500);
  assert.deepEqual(readyWakes(ticker), ['tick']);
  assert.equal(ticker.nextTickMs, 6_000);
});

describe('a tick that could not be taken when it came', () => {
  const phase = phaseOf(0, 10_000);

  test('is owed once', () => {
    const pending = holdTick(loadedTicker(1_000, phase));
    assert.deepEqual(readyWakes(pending), ['tick']);
    assert.equal(holdTick(pending), pending);
  });

  test('is followed by the first instant that is 0.9 period away, if that is not much more than a period', () => {
    const late = passTime(loadedTicker(1_000, phase), 10_000);
    assert.equal(spaceOut(late, 11_000).nextTickMs, 20_000);
    assert.equal(spaceOut(late, 18_000).nextTickMs, 30_000);
  });

  test('is else followed by steps of 0.9 period, until they meet the phase', () => {
    const begins = [12_500];
    let ticker = spaceOut(passTime(loadedTicker(1_000, phase), 10_000), 12_500);
    for (let step = 0; step < 5; step += 1) {
      const nowMs = ticker.nextTickMs;
      begins.push(nowMs);
      ticker = takeWake(passTime(ticker, nowMs), 'tick', nowMs);
    }
    assert.deepEqual(begins, [12_500, 21_500, 30_500, 40_000, 50_000, 60_000]);
  });

  test('still returns to its phase if it was on the way there', () => {
    const returning = takeWake(passTime(pendingTicker(22_500, phase), 22_500), 'tick', 22_500);
    assert.equal(returning.nextTickMs, 31_500);
    const late = takeWake(passTime(returning, 33_500), 'tick', 33_500);
    assert.deepEqual(spaceOut(late, 33_500), late);
    assert.deepEqual(late.returningTo, phase);
  });

  test('never makes a gap of less than 0.9 period, nor of much more than one', () => {
    fc.assert(
      fc.property(nowMs, phased, (now, phase) => {
        let ticker = pendingTicker(now, phase);
        let lastMs = now;
        for (let tick = 0; tick < 12; tick += 1) {
          ticker = takeWake(ticker, 'tick', lastMs);
          const gapMs = ticker.nextTickMs - lastMs;
          assert.ok(gapMs >= 0.9 * phase.periodMs && gapMs <= phase.periodMs + 2_500, `${gapMs} ms`);
          lastMs = ticker.nextTickMs;
          ticker = passTime(ticker, lastMs);
        }
        assert.equal(lastMs % phase.periodMs, phase.phaseMs);
      }),
    );
  });
});

describe('wall time that jumps', () => {
  const ticker = loadedTicker(1_000, phaseOf(0, 10_000));

  test('leaves a tick as far away as it was', () => {
    assert.equal(shiftTicker(ticker, 3_600_000, 3_601_000).nextTickMs, 3_610_000);
    assert.equal(shiftTicker(ticker, -600, 400).nextTickMs, 9_400);
  });

  test('does not carry a tick away that was set after the jump', () => {
    const after = loadedTicker(3_601_000, phaseOf(0, 10_000));
    assert.ok(shiftTicker(after, 3_600_000, 3_601_000).nextTickMs <= 3_621_000);
  });
});
