/** A target that is read again, and what becomes of it meanwhile. */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { dropTarget } from '../../shared/holder/probing/reconcile.ts';
import { sleep } from '../../shared/lib/clock.ts';
import { targetAddress } from '../../shared/store/records/keys.ts';
import { StoreUnavailable } from '../../shared/store/store.ts';
import { bareHolder } from '../support/bare-holder.ts';
import { type ShardWorld, shardWorld } from '../support/shard-world.ts';
import { testsIn } from '../support/tests-in.ts';
import { unhealthyEvent } from '../support/unhealthy-event.ts';

const address = targetAddress('default', 'checkout');
const readMs = 100;

/** One target that is held; from then on a read takes its time. */
async function heldWorld() {
  let isSlow = false;
  const world: ShardWorld = shardWorld({
    wrapStore: (store) => ({
      ...store,
      async query(query) {
        const items = await store.query(query);
        if (isSlow) await sleep(world.clock, readMs);
        return items;
      },
    }),
  });
  await world.put('checkout', { readinessProbe: { tcpSocket: { port: 1 } } });
  const { run, holder, hold } = bareHolder(world);
  const held = await hold('checkout');
  isSlow = true;
  return { world, run, holder, held, present: () => holder.targets.get(address.prefix) };
}

const inHeld = testsIn(() => heldWorld());

describe('a target that is read again', () => {
  inHeld('is held as it was read', async ({ world, holder, held, present }) => {
    await world.clock.runUntil(holder.reload(held));
    assert.equal(held.gone, true);
    assert.equal(present()?.target.uid, held.target.uid);
  });

  inHeld('is as overdue as it was', async ({ world, holder, held, present }) => {
    const seenAtMs = () => [...(present()?.workers.values() ?? [])].map((worker) => worker.seenAtMs);
    for (const worker of held.workers.values()) worker.shift(-60_000, world.clock.nowMs());
    const before = seenAtMs();
    await world.clock.runUntil(holder.reload(held));
    assert.notEqual(present(), held);
    assert.deepEqual(seenAtMs(), before);
  });

  inHeld('is seen for the first time if it has another uid', async ({ world, holder, held, present }) => {
    for (const worker of held.workers.values()) worker.shift(-60_000, world.clock.nowMs());
    const [before] = [...held.workers.values()].map((worker) => worker.seenAtMs);
    for (const { pk, sk } of await world.clock.runUntil(world.itemsOf('checkout')))
      await world.store.write([{ kind: 'delete', key: { pk, sk } }], { token: `purge ${sk}` });
    await world.clock.runUntil(world.put('checkout', { readinessProbe: { tcpSocket: { port: 1 } } }));
    await world.clock.runUntil(holder.reload(held));
    const after = present();
    assert.notEqual(after?.target.uid, held.target.uid);
    const [seenAtMs = 0] = [...(after?.workers.values() ?? [])].map((worker) => worker.seenAtMs);
    assert.ok(before !== undefined && seenAtMs >= before + 60_000, `${seenAtMs} and ${before}`);
  });

  inHeld('does not come back if it has left meanwhile', async ({ world, holder, held, present }) => {
    const reloading = holder.reload(held);
    await world.clock.advance(readMs / 2);
    dropTarget(holder, held);
    await world.clock.runUntil(reloading);
    assert.equal(present(), undefined);
  });

  inHeld('stays as it is if the run has ended meanwhile', async ({ world, run, holder, held, present }) => {
    const reloading = holder.reload(held);
    await world.clock.advance(readMs / 2);
    run.end({ kind: 'slotDone' });
    await world.clock.runUntil(reloading);
    assert.equal(present(), held);
    assert.equal(held.gone, false);
  });
});

test('a target that cannot be read is read again a second later, and then once a second', async () => {
  const reads: number[] = [];
  let isOut = false;
  const world: ShardWorld = shardWorld({
    wrapStore: (store) => ({
      ...store,
      query(query) {
        if (!isOut) return store.query(query);
        reads.push(world.clock.monotonicMs());
        return Promise.reject(new StoreUnavailable('a test'));
      },
    }),
  });
  await world.put('checkout', { readinessProbe: { tcpSocket: { port: 1 } } });
  const { holder, hold } = bareHolder(world);
  const held = await hold('checkout');
  isOut = true;
  const reloading = holder.reload(held);
  await world.clock.advance(4_500);
  const [first = 0] = reads;
  assert.deepEqual(
    reads.map((atMs) => atMs - first),
    [0, 1_000, 2_000, 3_000, 4_000],
  );
  isOut = false;
  await world.clock.runUntil(reloading);
  assert.equal(held.gone, true);
});

test('a target whose items are found gone when an event of it is to be written is held no more', async () => {
  const { world, holder, held, present } = await heldWorld();
  const [worker] = held.workers.values();
  assert.ok(worker);
  const items = await world.clock.runUntil(world.itemsOf('checkout'));
  for (const { pk, sk } of items)
    await world.store.write([{ kind: 'delete', key: { pk, sk } }], { token: `purge ${sk}` });
  const plan = { after: undefined, events: [unhealthyEvent(held.target.uid, 'main')], next: worker.verdict };
  assert.equal(await world.clock.runUntil(worker.write(holder, plan)), false);
  assert.equal(present(), undefined);
});
