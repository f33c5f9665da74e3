import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { apiWorld, manifest, startMs, targetPath, type World } from './world.ts';

const path = targetPath('checkout');

async function registered() {
  const world = apiWorld();
  await world.request('PUT', path, { body: manifest() });
  return world;
}

type Shown = {
  readonly metadata: { readonly deletionTimestamp?: string; readonly deletionGracePeriodSeconds?: number };
};

const deletionOf = async (response: Response) => {
  assert.equal(response.status, 202);
  const { deletionTimestamp, deletionGracePeriodSeconds } = ((await response.json()) as Shown).metadata;
  return [deletionTimestamp, deletionGracePeriodSeconds];
};

async function stored(world: World) {
  const [target] = (await world.items('checkout')).filter(({ kind }) => kind === 'TARGET');
  return target?.deletionTimestampMs;
}

describe('DELETE', () => {
  test("begins termination with the spec's grace period and leaves the items to status-sync", async () => {
    const world = await registered();
    assert.deepEqual(await deletionOf(await world.request('DELETE', path)), ['2026-01-01T12:00:30Z', 30]);
    assert.equal(await stored(world), startMs + 30_000);
    assert.equal((await world.items('checkout')).length, 3);
    await world.bus.settled();
    assert.partialDeepStrictEqual(world.published.at(-1), { detail: { reason: 'DeletionRequested' } });
  });

  test('with gracePeriodSeconds=0 ends at once', async () => {
    const world = await registered();
    const response = await world.request('DELETE', `${path}?gracePeriodSeconds=0`);
    assert.deepEqual(await deletionOf(response), ['2026-01-01T12:00:00Z', 0]);
  });

  test('again does not put the end off', async () => {
    const world = await registered();
    await world.request('DELETE', path);
    world.advance(10_000);
    const again = await world.request('DELETE', path);
    assert.equal(again.headers.get('etag'), '"2"');
    assert.deepEqual(await deletionOf(again), ['2026-01-01T12:00:30Z', 30]);
    assert.deepEqual(await deletionOf(await world.request('DELETE', `${path}?gracePeriodSeconds=100`)), [
      '2026-01-01T12:00:30Z',
      30,
    ]);
  });

  test('again with a shorter grace period brings the end forward', async () => {
    const world = await registered();
    await world.request('DELETE', path);
    world.advance(10_000);
    const response = await world.request('DELETE', `${path}?gracePeriodSeconds=5`);
    assert.deepEqual(await deletionOf(response), ['2026-01-01T12:00:15Z', 5]);
  });

  test('with dryRun marks nothing', async () => {
    const world = await registered();
    assert.deepEqual(await deletionOf(await world.request('DELETE', `${path}?dryRun=true`)), [
      '2026-01-01T12:00:30Z',
      30,
    ]);
    assert.equal(await stored(world), undefined);
  });

  test('of an unknown target is 404', async () => assert.equal((await apiWorld().request('DELETE', path)).status, 404));

  test('with a stale tag is 412', async () => {
    const world = await registered();
    assert.equal((await world.request('DELETE', path, { headers: { 'if-match': '"9"' } })).status, 412);
    assert.equal(await stored(world), undefined);
  });

  test('with a parameter that is not valid is 400 and names it', async () => {
    const world = await registered();
    for (const [query, parameter] of [
      ['gracePeriodSeconds=-1', 'gracePeriodSeconds'],
      ['gracePeriodSeconds=', 'gracePeriodSeconds'],
      ['gracePeriodSeconds=1e1', 'gracePeriodSeconds'],
      ['gracePeriodSeconds=86401', 'gracePeriodSeconds'],
      ['dryRun=yes', 'dryRun'],
    ]) {
      const response = await world.request('DELETE', `${path}?${query}`);
      assert.equal(response.status, 400, query);
      const { errors } = (await response.json()) as { readonly errors: readonly { readonly parameter: string }[] };
      assert.deepEqual(
        errors.map((each) => each.parameter),
        [parameter],
      );
    }
  });
});

test('a name may be registered again once the old target is purged, with another uid', async () => {
  const world = await registered();
  const [before] = await world.items('checkout');
  for (const { pk, sk } of await world.items('checkout'))
    await world.store.write([{ kind: 'delete', key: { pk, sk } }], { token: sk });
  assert.equal((await world.request('PUT', path, { body: manifest() })).status, 201);
  const [after] = await world.items('checkout');
  assert.notEqual(after?.uid, before?.uid);
});
