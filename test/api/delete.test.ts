import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { apiWorld, inRegistered, manifest, registered, startMs, targetPath, type World } from './world.ts';

const path = targetPath('checkout');

/** When the target ends by the answer, and after how many seconds of grace. */
async function deletion(world: World, query = '') {
  const { metadata } = (await world.expect(202, 'DELETE', path + query)).body;
  return [metadata.deletionTimestamp, metadata.deletionGracePeriodSeconds];
}

const stored = async (world: World) => (await world.itemOf('checkout', 'TARGET'))?.deletionTimestampMs;

describe('DELETE', () => {
  inRegistered("begins termination with the spec's grace period and leaves the items to status-sync", async (world) => {
    assert.deepEqual(await deletion(world), ['2026-01-01T12:00:30.000Z', 30]);
    assert.equal(await stored(world), startMs + 30_000);
    assert.equal((await world.items('checkout')).length, 3);
    await world.bus.settled();
    assert.partialDeepStrictEqual(world.published.at(-1), { detail: { reason: 'DeletionRequested' } });
  });

  test('with gracePeriodSeconds=0 ends at once', async () =>
    assert.deepEqual(await deletion(await registered(), '?gracePeriodSeconds=0'), ['2026-01-01T12:00:00.000Z', 0]));

  inRegistered('again does not put the end off', async (world) => {
    await deletion(world);
    world.advance(10_000);
    assert.equal((await world.ask('DELETE', path)).etag, '"2"');
    for (const query of ['', '?gracePeriodSeconds=100'])
      assert.deepEqual(await deletion(world, query), ['2026-01-01T12:00:30.000Z', 30]);
  });

  inRegistered('again with a shorter grace period brings the end forward', async (world) => {
    await deletion(world);
    world.advance(10_000);
    assert.deepEqual(await deletion(world, '?gracePeriodSeconds=5'), ['2026-01-01T12:00:15.000Z', 5]);
  });

  inRegistered('with dryRun marks nothing', async (world) => {
    assert.deepEqual(await deletion(world, '?dryRun=true'), ['2026-01-01T12:00:30.000Z', 30]);
    assert.equal(await stored(world), undefined);
  });

  test('of an unknown target is 404', async () => void (await apiWorld().expect(404, 'DELETE', path)));

  inRegistered('with a stale tag is 412', async (world) => {
    await world.expect(412, 'DELETE', path, undefined, { 'if-match': '"9"' });
    assert.equal(await stored(world), undefined);
  });

  inRegistered('with a parameter that is not valid is 400 and names it', async (world) => {
    for (const query of ['=-1', '=', '=1e1', '=86401'].map((value) => `gracePeriodSeconds${value}`))
      assert.deepEqual((await world.expect(400, 'DELETE', `${path}?${query}`)).places, ['gracePeriodSeconds']);
    assert.deepEqual((await world.expect(400, 'DELETE', `${path}?dryRun=yes`)).places, ['dryRun']);
  });
});

inRegistered('a name may be registered again once the old target is purged, with another uid', async (world) => {
  const [before] = await world.items('checkout');
  await world.remove('checkout');
  await world.expect(201, 'PUT', path, manifest());
  const [after] = await world.items('checkout');
  assert.notEqual(after?.uid, before?.uid);
});
