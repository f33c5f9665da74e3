import assert from 'node:assert/strict';
import { test } from 'node:test';
import { tendLanes } from '../../../shared/holder/probing/timekeeper.ts';
import type { HeldTarget } from '../../../shared/holder/probing/worker.ts';

test('a target that becomes due while it is looked at is not looked at twice at the same time', async () => {
  const looks: PromiseWithResolvers<void>[] = [];
  const tend = () => {
    const look = Promise.withResolvers<void>();
    looks.push(look);
    return look.promise;
  };
  const working: Promise<void>[] = [];
  const lanes = tendLanes(
    tend,
    (work) => void working.push(work),
    () => false,
  );
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

test('eight groups are looked at together, each of one bucket, and a target that has gone is not', async () => {
  const looks: { readonly names: readonly string[]; readonly end: () => void }[] = [];
  const tend = (group: readonly HeldTarget[]) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    looks.push({ names: group.map(({ address }) => address.prefix), end: resolve });
    return promise;
  };
  const working: Promise<void>[] = [];
  const lanes = tendLanes(
    tend,
    (work) => void working.push(work),
    () => false,
  );
  const buckets = Array.from({ length: 10 }, (_, index) => `0${index}`);
  const held = (bucket: string, name: string, gone = false) =>
    ({ gone, address: { bucket, prefix: `${bucket}/${name}` } }) as HeldTarget;
  for (const bucket of buckets) for (const name of ['a', 'b']) lanes.add(held(bucket, name));
  lanes.add(held('gone', 'a', true));
  lanes.begin();
  const groupOf = (bucket: string) => [`${bucket}/a`, `${bucket}/b`];
  assert.deepEqual(
    looks.map(({ names }) => names),
    buckets.slice(0, 8).map(groupOf),
  );
  for (const { end } of looks) end();
  await Promise.all(working);
  assert.deepEqual(
    looks.slice(8).map(({ names }) => names),
    buckets.slice(8).map(groupOf),
  );
});

test('of one bucket a hundred targets are looked at together, and the last one behind them', async () => {
  const sizes: number[] = [];
  const tend = async (group: readonly HeldTarget[]) => void sizes.push(group.length);
  const working: Promise<void>[] = [];
  const lanes = tendLanes(
    tend,
    (work) => void working.push(work),
    () => false,
  );
  for (let at = 0; at < 101; at += 1)
    lanes.add({ gone: false, address: { bucket: '00', prefix: `${at}` } } as HeldTarget);
  lanes.begin();
  while (working.length > 0) await Promise.all(working.splice(0));
  assert.deepEqual(sizes, [100, 1]);
});
