import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { HeldTarget } from '../../../shared/run/probing/held-target.ts';
import { tendLanes } from '../../../shared/run/probing/lanes.ts';

test('a target that becomes due while it is looked at is not looked at twice at the same time', async () => {
  const looks: PromiseWithResolvers<void>[] = [];
  const tend = () => {
    const look = Promise.withResolvers<void>();
    looks.push(look);
    return look.promise;
  };
  const working: Promise<void>[] = [];
  const lanes = tendLanes({ tend, track: (work) => void working.push(work), isOver: () => false });
  const held = { gone: false, address: { bucket: '00' } } as HeldTarget;
  const due = () => {
    lanes.add(held);
    lanes.begin();
  };
  due();
  due();
  assert.equal(looks.length, 1);
  looks[0]?.resolve();
  await Promise.all(working);
  assert.equal(looks.length, 1, 'the end of a look says when the next one is due');
  due();
  assert.equal(looks.length, 2);
});
