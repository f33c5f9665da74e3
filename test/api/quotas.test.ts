/**
 * How much may be registered: the same in one process, which counts, and on a table that many share, where the schedule
 * does.
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { census } from '../../functions/local/process/census.ts';
import type { QuotaLimits, Quotas } from '../../shared/core/shards/quota.ts';
import { systemRandom } from '../../shared/lib/random.ts';
import { readWeights } from '../../shared/schedule/weights.ts';
import { targetAddress, targetKey } from '../../shared/store/records/keys.ts';
import { sqliteStore } from '../../shared/store/sqlite/sqlite.ts';
import type { Store } from '../../shared/store/store.ts';
import { storedQuotas } from '../../shared/table/quotas.ts';
import { immediateClock } from '../support/immediate-clock.ts';
import { recordingLog } from '../support/recording-log.ts';
import { apiWorld, startMs, targetPath } from './world.ts';

const enough: QuotaLimits = { targetsMax: 1_000, targetsPerNamespaceMax: 1_000, probesPerSecondMax: 1_000 };
/** Longer than a process relies on what was counted before. */
const laterMs = 10_000;

function limitedWorld(quotasOf: QuotasOf, limits: Partial<QuotaLimits>) {
  let laterByMs = 0;
  const still = immediateClock();
  const clock = { ...still, nowMs: () => startMs, monotonicMs: () => still.monotonicMs() + laterByMs };
  const { store, quotas } = quotasOf({ ...enough, ...limits }, clock);
  const world = apiWorld({ store, clock, quotas });
  return {
    ...world,
    store,
    another: () => apiWorld({ store, clock, quotas: storedQuotas({ ...enough, ...limits }, { store, clock }) }),
    /** What the schedule does each minute; then what was read before is out of date. */
    async counted() {
      await readWeights({ store, clock, log: recordingLog(), random: systemRandom });
      laterByMs += laterMs;
    },
    pass: () => {
      laterByMs += laterMs;
    },
    put: (name: string, { namespace = 'default', query = '', spec = probed() }: Put = {}) =>
      world.ask<Body>('PUT', targetPath(name, namespace) + query, { spec }),
    /** Changes or removes the TARGET item behind the API's back, and counts the change. */
    async change(name: string, operation: { kind: 'delete' } | { kind: 'update'; set: { spec: number } }) {
      const address = targetAddress('default', name);
      await store.write([{ ...operation, key: targetKey(address) }], { token: `${operation.kind} ${name}` });
      const key = { pk: 'CHANGES', sk: address.bucket };
      await store.write([{ kind: 'update', key, add: { '00': 1 } }], { token: `count ${name}` });
    },
  };
}

type Put = { readonly namespace?: string; readonly query?: string; readonly spec?: object };
type Body = { readonly type?: string; readonly quota?: object };
type QuotasOf = (
  limits: QuotaLimits,
  clock: ReturnType<typeof immediateClock>,
) => { readonly store: Store; readonly quotas: Quotas };

/** One HTTP probe in so many seconds. */
const probed = (periodSeconds = 10, scheme = 'HTTP') => ({
  host: '127.0.0.1',
  readinessProbe: { httpGet: { path: '/', port: 80, scheme }, periodSeconds },
});

const shared: QuotasOf = (limits, clock) => {
  const store = sqliteStore({ path: ':memory:' });
  return { store, quotas: storedQuotas(limits, { store, clock }) };
};

const kinds: { readonly [kind: string]: QuotasOf } = {
  'in one process': (limits, clock) => {
    const store = sqliteStore({ path: ':memory:', onWrite: (changes) => quotas.written(changes) });
    const quotas = census(limits, { store, clock });
    return { store, quotas };
  },
  'on a shared table': shared,
};

type LimitedWorld = ReturnType<typeof limitedWorld>;

async function refuses(world: LimitedWorld, name: string, put: Put, quota: object) {
  const { status, body } = await world.put(name, put);
  assert.deepEqual([status, body.type, body.quota], [429, 'urn:probelet:problem:quota-exceeded', quota]);
}

/** The status of each PUT, one after the other. */
async function statusesOf(world: Pick<LimitedWorld, 'ask'>, ...names: readonly string[]) {
  const statuses: number[] = [];
  for (const name of names) statuses.push((await world.ask('PUT', targetPath(name), { spec: probed() })).status);
  return statuses;
}

for (const [kind, quotasOf] of Object.entries(kinds))
  describe(kind, () => {
    test('a target too many is refused with the numbers, and nothing of it is stored', async () => {
      const world = limitedWorld(quotasOf, { targetsMax: 2 });
      assert.deepEqual(await statusesOf(world, 'a', 'b'), [201, 201]);
      await refuses(world, 'c', {}, { limit: 'targetsMax', max: 2, now: 2, asked: 1 });
      const { pk } = targetAddress('default', 'c');
      const items = await world.store.query({ pk });
      assert.ok(!items.some(({ sk }) => sk.includes('#default/c#')), 'something of it is stored');
      assert.equal((await world.put('c', { query: '?dryRun=true' })).status, 429, 'a dry run says the same');
    });

    test('of one namespace is no more than it may have, whatever its name is', async () => {
      const world = limitedWorld(quotasOf, { targetsPerNamespaceMax: 1 });
      for (const namespace of ['constructor', 'hasownproperty', 'default']) {
        assert.equal((await world.put('a', { namespace })).status, 201, namespace);
        await world.counted();
        await refuses(world, 'b', { namespace }, { limit: 'targetsPerNamespaceMax', max: 1, now: 1, asked: 1 });
      }
    });

    test('what exists may be changed, removed and triggered beyond the limit', async () => {
      const world = limitedWorld(quotasOf, { targetsMax: 1, probesPerSecondMax: 1 });
      assert.equal((await world.put('a', { spec: probed(1) })).status, 201);
      assert.equal((await world.put('a', { spec: { ...probed(2), host: '127.0.0.2' } })).status, 200);
      await world.expect(202, 'POST', `${targetPath('a')}/probe`);
      const desired = await world.expect<{ removed: string[] }>(200, 'PUT', '/v1/namespaces/default/desired', {
        names: [],
      });
      assert.deepEqual(desired.body.removed, ['a']);
    });

    test('more probes a second than it may be are refused, of new targets and of changed ones', async () => {
      const world = limitedWorld(quotasOf, { probesPerSecondMax: 5 });
      assert.equal((await world.put('https', { spec: probed(1, 'HTTPS') })).status, 201);
      const spec = { ...probed(1), livenessProbe: probed(2).readinessProbe };
      await refuses(world, 'more', { spec }, { limit: 'probesPerSecondMax', max: 5, now: 4, asked: 1.5 });
      assert.equal((await world.put('http', { spec: probed(2) })).status, 201);
      assert.equal((await world.put('http', { spec: probed(1) })).status, 200);
      assert.equal((await world.put('late', { spec: probed(60) })).status, 429);
      const { httpGet } = probed(1, 'HTTPS').readinessProbe;
      const faster = { containers: [{ name: 'main', readinessProbe: { httpGet, periodSeconds: 1 } }] };
      await world.expect(429, 'PATCH', targetPath('http'), { spec: faster });
      assert.equal((await world.put('https', { spec: probed(4, 'HTTPS') })).status, 200);
      await world.counted();
      assert.equal((await world.put('late', { spec: probed(60) })).status, 201);
    });

    test('of many at once exactly as many are stored as the limit allows', async () => {
      const world = limitedWorld(quotasOf, { targetsMax: 10 });
      const names = Array.from({ length: 40 }, (_, index) => `target-${index}`);
      const statuses = (await Promise.all(names.map((name) => world.put(name)))).map(({ status }) => status);
      assert.deepEqual(statuses.toSorted(), [...Array(10).fill(201), ...Array(30).fill(429)]);
      assert.equal((await world.put(names[statuses.indexOf(201)] ?? '')).status, 200, 'a repetition is no addition');
    });

    test('fractions that were added and taken away leave nothing behind', async () => {
      const world = limitedWorld(quotasOf, { probesPerSecondMax: 1 });
      for (const periodSeconds of [3, 7, 11, 13, 3, 10, 7]) await world.put('a', { spec: probed(periodSeconds) });
      await world.put('a', { spec: { host: '127.0.0.1', containers: [{ name: 'main' }] } });
      await world.counted();
      assert.equal((await world.put('b', { spec: probed(1) })).status, 201);
    });

    test('a target that is gone no longer counts', async () => {
      const world = limitedWorld(quotasOf, { targetsMax: 1 });
      await world.put('a');
      await world.counted();
      assert.equal((await world.put('b')).status, 429);
      await world.change('a', { kind: 'delete' });
      await world.counted();
      assert.equal((await world.put('b')).status, 201);
    });

    test('a target that cannot be read counts for nothing', async () => {
      const world = limitedWorld(quotasOf, { targetsMax: 1 });
      await world.put('a');
      await world.change('a', { kind: 'update', set: { spec: 1 } });
      await world.counted();
      assert.equal((await world.put('b')).status, 201);
    });
  });

test('a process counts what it finds in its store', async () => {
  const store = sqliteStore({ path: ':memory:', onWrite: (changes) => counting?.written(changes) });
  let counting: ReturnType<typeof census> | undefined;
  const world = apiWorld({ store });
  await statusesOf(world, 'a', 'b', 'c');
  counting = census({ ...enough, targetsMax: 4 }, { store, clock: immediateClock() });
  assert.deepEqual(await statusesOf(apiWorld({ store, quotas: counting }), 'd', 'e'), [201, 429]);
});

test('a write that may have been stored is counted from the store', async () => {
  const store = sqliteStore({ path: ':memory:' });
  const counting = census({ ...enough, targetsMax: 2 }, { store, clock: immediateClock() });
  const limited = apiWorld({ store, quotas: counting });
  // This store does not tell of its writes.
  assert.deepEqual(await statusesOf(limited, 'a', 'b', 'c'), [201, 201, 201]);
  counting.written('inDoubt');
  assert.deepEqual(await statusesOf(limited, 'd'), [429]);
});

test('what is about to be written counts for its own namespace', async () => {
  const store = sqliteStore({ path: ':memory:' });
  const counting = census({ ...enough, targetsPerNamespaceMax: 2 }, { store, clock: immediateClock() });
  const take = async (namespace: string, name: string) =>
    (await counting.take(`${namespace}/${name}`, { namespace, targets: 1, cpu: 0 })).kind;
  const kinds: string[] = [];
  for (const namespace of ['a', 'b', 'a', 'a', 'b', 'b']) kinds.push(await take(namespace, `${kinds.length}`));
  assert.deepEqual(kinds, ['taken', 'taken', 'taken', 'exceeded', 'taken', 'exceeded']);
});

describe('processes that share a table', () => {
  test('learn within seconds of what the others have registered, without a new weight', async () => {
    const world = limitedWorld(shared, { targetsMax: 2 });
    const other = world.another();
    assert.deepEqual(await statusesOf(other, 'a'), [201]);
    assert.deepEqual(await statusesOf(world, 'b', 'c'), [201, 429]);
    assert.deepEqual(await statusesOf(other, 'd'), [201], 'what the other has read is not old enough');
    world.pass();
    assert.deepEqual(await statusesOf(other, 'e'), [429]);
  });

  test('know of a namespace at once what they have let through themselves, and count it once', async () => {
    const world = limitedWorld(shared, { targetsPerNamespaceMax: 3 });
    assert.deepEqual(await statusesOf(world, 'a'), [201]);
    world.pass();
    assert.deepEqual(await statusesOf(world, 'b'), [201]);
    world.pass();
    await world.counted();
    assert.deepEqual(await statusesOf(world, 'c'), [201]);
    world.pass();
    assert.deepEqual(await statusesOf(world, 'd'), [429]);
    await world.counted();
    assert.deepEqual(await statusesOf(world, 'e'), [429]);
  });

  test('note of a bucket no more than its largest namespaces', async () => {
    const world = limitedWorld(shared, {});
    const namesIn00 = (namespace: string, count: number): readonly string[] => {
      const names: string[] = [];
      for (let number = 0; names.length < count; number += 1)
        if (targetAddress(namespace, `t${number}`).bucket === '00') names.push(`t${number}`);
      return names;
    };
    for (let number = 0; number < 65; number += 1) {
      const namespace = `namespace-${number}`;
      for (const name of namesIn00(namespace, number === 64 ? 2 : 1)) await world.put(name, { namespace });
    }
    await world.counted();
    const weight = await world.store.get({ pk: 'WEIGHT', sk: '00' });
    const noted = weight?.namespaces as readonly { readonly name: string; readonly targets: number }[];
    assert.equal(noted.length, 64);
    assert.deepEqual(noted[0], { name: 'namespace-64', targets: 2 });
  });

  test('read the counts for many registrations at once, not for each', async () => {
    const world = limitedWorld(shared, {});
    let reads = 0;
    const { query } = world.store;
    world.store.query = (asked) => {
      if (asked.pk === 'WEIGHT' || asked.pk === 'CHANGES') reads += 1;
      return query(asked);
    };
    for (let number = 0; number < 50; number += 1) assert.equal((await world.put(`t${number}`)).status, 201);
    assert.equal(reads, 2);
  });
});
