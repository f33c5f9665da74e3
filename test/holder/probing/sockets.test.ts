import assert from 'node:assert/strict';
import { test } from 'node:test';
import { descriptorsMax } from '../../../shared/core/self/sockets.ts';
import { newSocketBudget } from '../../../shared/holder/probing/sockets.ts';
import { virtualClock } from '../../support/virtual-clock.ts';

test('a place that is left twice is released once', () => {
  const socketBudget = newSocketBudget(virtualClock());
  const [place] = Array.from({ length: descriptorsMax }, () => socketBudget.take('steady', 1));
  let given = 0;
  socketBudget.onFree(() => {
    given += 1;
  });
  assert.equal(socketBudget.hasFor('steady', 1), false);
  place?.leave();
  place?.leave();
  assert.deepEqual([socketBudget.hasFor('steady', 1), socketBudget.hasFor('steady', 2), given], [true, false, 1]);
});

test('a place that is left while its socket is open is released when the socket closes', () => {
  const socketBudget = newSocketBudget(virtualClock());
  const [place] = Array.from({ length: descriptorsMax }, () => socketBudget.take('steady', 1));
  const closed = place?.opened();
  place?.leave();
  assert.equal(socketBudget.hasFor('steady', 1), false);
  closed?.();
  assert.equal(socketBudget.hasFor('steady', 1), true);
});
