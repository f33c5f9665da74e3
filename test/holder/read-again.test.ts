import assert from 'node:assert/strict';
import { test } from 'node:test';
import { HeldTargets } from '../../shared/holder/held-targets.ts';
import { readAgain } from '../../shared/holder/load.ts';
import type { HeldTarget } from '../../shared/holder/probing/worker.ts';
import { type TargetAddress, targetAddress } from '../../shared/store/records/keys.ts';
import type { Query } from '../../shared/store/store.ts';
import { column } from '../support/columns.ts';
import { writeSettled } from '../support/settled-targets.ts';
import { shardWorld } from '../support/shard-world.ts';

const targets = 2_000;

/** Which of the targets of one bucket a reader gets, and with which queries. */
async function read(dueOf: (addresses: readonly TargetAddress[]) => readonly TargetAddress[]) {
  const queries: Query[] = [];
  const world = shardWorld({
    wrapStore: (store) => ({
      ...store,
      query(query) {
        queries.push(query);
        return store.query(query);
      },
    }),
  });
  await writeSettled(world.store, { targets, port: 1, periodSeconds: 10 });
  const all = Array.from({ length: targets }, (_, at) => targetAddress('default', `mass-${at}`));
  const bucket = largestBucket(all);
  const due = dueOf(bucket);
  const held = (addresses: readonly TargetAddress[]) => addresses.map((address) => ({ address }) as HeldTarget);
  queries.length = 0;
  const targetsHeld = new HeldTargets();
  for (const one of held(all)) targetsHeld.set(one.address.prefix, one);
  const found = await readAgain(world.ports().store, held(due), targetsHeld);
  return { due, found, queries };
}

/** Of 2,000 targets in 256 buckets it has more than eight. */
function largestBucket(addresses: readonly TargetAddress[]): readonly TargetAddress[] {
  const buckets = [...Map.groupBy(addresses, ({ bucket }) => bucket).values()];
  return buckets.reduce((largest, other) => (other.length > largest.length ? other : largest), []);
}

test('many due targets of a bucket are read with one query, and only they', async () => {
  const { due, found, queries } = await read((bucket) => bucket.filter((_, at) => at % 2 === 0));
  assert.ok(due.length > 2);
  assert.deepEqual([...found.keys()].toSorted(), due.map(({ prefix }) => prefix).toSorted());
  assert.equal(queries.length, 1);
});

test('the only due target of a bucket is read alone', async () => {
  const { due, found, queries } = await read((bucket) => bucket.slice(0, 1));
  assert.deepEqual([...found.keys()], [due[0]?.prefix]);
  assert.deepEqual(column(queries, 'from'), [due[0]?.prefix]);
});

test('two due targets of a bucket with more than eight are read alone, not with all that lie between them', async () => {
  const { due, found, queries } = await read((bucket) => [bucket[0], bucket.at(-1)].flatMap((one) => one ?? []));
  assert.equal(due.length, 2);
  assert.deepEqual([...found.keys()].toSorted(), due.map(({ prefix }) => prefix).toSorted());
  assert.deepEqual(column(queries, 'from'), column(due, 'prefix'));
});

test('a target that has gone is not found', async () => {
  const gone = (bucket: readonly TargetAddress[]) => {
    const [first] = bucket;
    return first ? [...bucket, { ...first, prefix: `${first.prefix.slice(0, 16)}#default/gone#` }] : [];
  };
  const { due, found } = await read(gone);
  assert.equal(found.size, due.length - 1);
});
