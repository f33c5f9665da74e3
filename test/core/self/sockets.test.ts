import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  type BacklogClass,
  backlogClassAfter,
  descriptorsMax,
  descriptorsOf,
  fitsBudget,
  nothingTaken,
  type Taken,
} from '../../../shared/core/self/sockets.ts';

/** How many probes of this backlog class get in, one after the other. */
function fill(before: Taken, backlogClass: BacklogClass, descriptors = 1): number {
  let taken = before;
  let count = 0;
  for (; fitsBudget(taken, backlogClass, descriptors, descriptorsMax); count += 1)
    taken = { ...taken, [backlogClass]: taken[backlogClass] + descriptors };
  return count;
}

test('probes that hang have half of the socket budget, and steady ones what is left', () => {
  assert.equal(fill(nothingTaken, 'hanging'), 350);
  assert.equal(fill({ ...nothingTaken, hanging: 350 }, 'steady'), 350);
  assert.equal(fill({ ...nothingTaken, steady: 600 }, 'hanging'), 100);
});

test('new probes have a quarter more than those that hang, so that they never wait for these alone', () => {
  assert.equal(fill({ ...nothingTaken, hanging: 350 }, 'new'), 175);
  assert.equal(fill(nothingTaken, 'new'), 525);
});

test('steady probes may have all of it', () => assert.equal(fill(nothingTaken, 'steady'), descriptorsMax));

test('a command counts three times', () => {
  assert.equal(descriptorsOf({ exec: { command: ['true'] } }), 3);
  assert.equal(descriptorsOf({}), 1);
  assert.equal(fill({ ...nothingTaken, steady: 690 }, 'steady', 3), 3);
});

test('a probe hangs when it has used up its time', () =>
  assert.deepEqual([backlogClassAfter(899, 1_000), backlogClassAfter(900, 1_000)], ['steady', 'hanging']));
