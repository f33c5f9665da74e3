import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { StoreCall } from '../../shared/store/dynamodb/capacity.ts';
import { sqliteStore } from '../../shared/store/sqlite/sqlite.ts';
import { storeContract } from '../contract/store.ts';
import { countedStore } from '../support/unit-counter.ts';

storeContract('a store whose units are counted', () => {
  const sqlite = sqliteStore({ path: ':memory:' });
  return { store: countedStore(sqlite, () => undefined), close: () => sqlite.close() };
});

test('calls are counted in DynamoDB’s units', async () => {
  const calls: StoreCall[] = [];
  const sqlite = sqliteStore({ path: ':memory:' });
  const store = countedStore(sqlite, (call) => calls.push(call));
  const large = { pk: 'p', sk: 'large', blob: 'x'.repeat(4000) };
  await store.write([{ kind: 'put', item: large }], { token: 'a' });
  await store.write([{ kind: 'update', key: { pk: 'p', sk: 's' }, add: { x: 1 } }], { token: 'b' });
  await store.write(
    [
      { kind: 'check', key: { pk: 'p', sk: 's' }, if: [{ kind: 'exists' }] },
      { kind: 'delete', key: { pk: 'p', sk: 'large' } },
    ],
    { token: 'c' },
  );
  await store.get({ pk: 'p', sk: 's' });
  await store.query({ pk: 'p', eventuallyConsistent: true });
  assert.deepEqual(calls, [
    { operation: 'put', readUnits: 0, writeUnits: 4 },
    { operation: 'update', readUnits: 0, writeUnits: 1 },
    { operation: 'transaction', readUnits: 0, writeUnits: 10 },
    { operation: 'get', readUnits: 1, writeUnits: 0 },
    { operation: 'query', readUnits: 0.5, writeUnits: 0 },
  ]);
  sqlite.close();
});
