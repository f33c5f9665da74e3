import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { tendTargets } from '../../../shared/holder/probing/timekeeper.ts';
import { syncTarget } from '../../../shared/status-sync/sync.ts';
import { bareHolder } from '../../support/bare-holder.ts';
import { column } from '../../support/columns.ts';
import { heldWorld, inShardWorld } from '../../support/shard-world.ts';
import { countOf, massWorld } from './mass-world.ts';

const few = 300;
/** Of the 50 sockets that the DynamoDB client has. */
const readsAtOnceMax = 10;

describe('hundreds of targets that STATUS has not taken in', () => {
  test('are looked at a few at a time', async () => {
    const { world, runUntilFailed, begin, readsAtOnce } = await massWorld(few);
    await runUntilFailed();
    await world.clock.advance(20_000);
    begin();
    await world.clock.advance(10_000);
    assert.ok(readsAtOnce() <= readsAtOnceMax, `${readsAtOnce()} reads at once`);
  });

  test('are published once by the run that takes the shard over, not looked at without end', async () => {
    const { world, run, runUntilFailed, begin, reads, readsAtOnce } = await massWorld(few);
    const first = await runUntilFailed();
    first.crash();
    world.published.length = 0;
    begin();
    await run();
    await world.clock.advance(15_000);
    assert.equal(countOf(world), few);
    assert.ok(readsAtOnce() <= readsAtOnceMax, `${readsAtOnce()} reads at once`);
    // To load it, to look at it, twice at most, and what was committed of it.
    assert.ok(reads() <= 4 * few, `${reads()} reads in 15 s`);
  });
});

describe('a result that STATUS has not taken in', () => {
  const readinessProbe = { tcpSocket: { port: 1 }, periodSeconds: 10, failureThreshold: 1 };

  test('is published every 10 s, and no other sync is asked for', async () => {
    const { world } = await heldWorld({ checkout: { readinessProbe } }, 30_000);
    world.sync(false);
    world.published.length = 0;
    world.answer(() => 'failure');
    await world.clock.advance(60_000);
    const published = world.published.map((event) => event['detail-type']);
    assert.ok(published.filter((type) => type === 'Probe Result Changed').length >= 4, `${published}`);
    assert.ok(!published.includes('Target Sync Requested'), `${published}`);
  });

  inShardWorld('is all that a look publishes of a target with nothing else open', async (world) => {
    await world.put('checkout', { readinessProbe });
    await world.clock.advance(0);
    await world.clock.runUntil(syncTarget(world, { namespace: 'default', name: 'checkout' }));
    const { holder, hold } = bareHolder(world);
    const held = await hold('checkout');
    const name = 'main#readiness';
    const record = held.records.get(name);
    assert.ok(record);
    held.records.set(name, { ...record, version: 7, result: 'failure' });
    held.unacked.set(name, { version: 7, event: undefined, publishedAtMs: Number.NEGATIVE_INFINITY, sinceMs: 0 });
    world.published.length = 0;
    await world.clock.runUntil(tendTargets(holder, [held]));
    await world.clock.runUntil(holder.publisher.drained());
    await world.clock.advance(0);
    assert.deepEqual(column(world.published, 'detail-type'), ['Probe Result Changed']);
  });
});
