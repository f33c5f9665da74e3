import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isSurge, mayTurn, turnsPerSecond } from '../../shared/core/velocity.ts';

test('a surge is more than ten targets, and more than three in ten', () => {
  assert.deepEqual(
    [isSurge(10, 12), isSurge(11, 12), isSurge(150, 500), isSurge(151, 500)],
    [false, true, false, true],
  );
});

test('a few targets turn at once, those of a surge so many a second', () => {
  assert.equal(mayTurn({ turning: 10, targets: 10, grantedInSecond: 1_000 }), true);
  assert.equal(mayTurn({ turning: 200, targets: 500, grantedInSecond: turnsPerSecond - 1 }), true);
  assert.equal(mayTurn({ turning: 200, targets: 500, grantedInSecond: turnsPerSecond }), false);
});
