import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { heldPeriodMsMax, isSurge, mayTurn, surgeRampMs } from '../../../shared/core/self/health.ts';

test('a surge is more than ten targets, and more than three in ten', () => {
  const surges = [isSurge(10, 12), isSurge(11, 12), isSurge(150, 500), isSurge(151, 500)];
  assert.deepEqual(surges, [false, true, false, true]);
});

const turn = { turning: 400, targets: 1_000, surgeMs: 0, turned: 0, periodMs: 10_000 };

test('a few targets turn at once', () => {
  assert.equal(mayTurn({ ...turn, turning: 10, targets: 10, turned: 1_000 }), true);
  assert.equal(mayTurn({ ...turn, turning: 300, turned: 1_000 }), true);
});

describe('of a surge', () => {
  const allowed = (more: Partial<typeof turn>): number => {
    let turned = 0;
    while (turned < 1_000 && mayTurn({ ...turn, ...more, turned })) turned += 1;
    return turned;
  };

  test('all targets may have turned when the ramp is over, at an even pace until then', () => {
    const quarters = [0, 0.25, 0.5, 0.75, 1].map((part) => allowed({ surgeMs: part * surgeRampMs }));
    assert.deepEqual(quarters, [0, 250, 500, 750, 1_000]);
  });

  test('nothing is held back from the end of the ramp on, also targets that turn again', () =>
    assert.equal(mayTurn({ ...turn, surgeMs: surgeRampMs, turned: 5_000 }), true));

  test('ten a second turn in a small shard', () =>
    assert.equal(allowed({ turning: 20, targets: 20, surgeMs: 1_000 }), 10));

  test('a probe that comes too seldom to wait for its next turn is not held back', () => {
    assert.equal(allowed({ periodMs: heldPeriodMsMax }), 0);
    assert.equal(allowed({ periodMs: heldPeriodMsMax + 1_000 }), 1_000);
  });
});
