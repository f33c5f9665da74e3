import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import {
  dueMs,
  holdTrigger,
  loadedTicker,
  newTargetTicker,
  oweTick,
  passTime,
  phaseOf,
  readyWakes,
  shiftTicker,
  spaceOut,
  startDelayMs,
  takeWake,
} from '../../shared/core/ticker.ts';

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

test('only a prober younger than the period delays its first probe', () => {
  assert.equal(startDelayMs(10_000, 10_000, 0.5), 0);
  assert.equal(startDelayMs(10_000, 9_999, 0.5), 5_000);
});

test('ticks that were missed leave one held tick and the phase', () => {
  const ticker = passTime(loadedTicker(0, phaseOf(0, 1_000)), 5_500);
  assert.deepEqual(readyWakes(ticker), ['tick']);
  assert.equal(ticker.nextTickMs, 6_000);
});

describe('a tick that could not be taken when it came', () => {
  const phase = phaseOf(0, 10_000);

  test('is owed once', () => {
    const owed = oweTick(loadedTicker(1_000, phase));
    assert.deepEqual(readyWakes(owed), ['tick']);
    assert.equal(oweTick(owed), owed);
  });

  test('is followed by the first instant that is 0.9 period away', () => {
    const late = passTime(loadedTicker(1_000, phase), 10_000);
    assert.equal(spaceOut(late, 11_000).nextTickMs, 20_000);
    assert.equal(spaceOut(late, 11_001).nextTickMs, 30_000);
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
