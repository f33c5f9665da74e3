import assert from 'node:assert/strict';
import { test } from 'node:test';
import { descriptorsMax } from '../../../shared/core/room.ts';
import { probeRoom } from '../../../shared/run/probing/sockets.ts';

test('a place that is left twice is given back once', () => {
  const room = probeRoom();
  const [place] = Array.from({ length: descriptorsMax }, () => room.take('steady', 1));
  let given = 0;
  room.onFree(() => {
    given += 1;
  });
  assert.equal(room.hasFor('steady', 1), false);
  place?.leave();
  place?.leave();
  assert.deepEqual([room.hasFor('steady', 1), room.hasFor('steady', 2), given], [true, false, 1]);
});

test('a place that is left while a socket of it is open is given back when that closes', () => {
  const room = probeRoom();
  const [place] = Array.from({ length: descriptorsMax }, () => room.take('steady', 1));
  const closed = place?.opened();
  place?.leave();
  assert.equal(room.hasFor('steady', 1), false);
  closed?.();
  assert.equal(room.hasFor('steady', 1), true);
});
