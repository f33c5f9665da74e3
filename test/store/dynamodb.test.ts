import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { PutItemCommand } from '@aws-sdk/client-dynamodb';
import { systemClock } from '../../shared/lib/clock.ts';
import { systemRandom } from '../../shared/lib/random.ts';
import type { StoreCall } from '../../shared/store/dynamodb/capacity.ts';
import { dynamodbStore } from '../../shared/store/dynamodb/dynamodb.ts';
import { sqliteStore } from '../../shared/store/sqlite/sqlite.ts';
import { type Store, StoreUnavailable } from '../../shared/store/store.ts';
import { hangContract } from '../contract/hangs.ts';
import { storeContract } from '../contract/store.ts';
import { createTable, localClient } from '../support/dynamodb-local.ts';
import { countedStore } from '../support/unit-counter.ts';
import { dynamodbForTests, requestTimeoutMs } from './dynamodb-bench.ts';

const ports = { clock: systemClock, random: systemRandom };

describe('DynamoDB', () => {
  const { local } = dynamodbForTests();

  async function tableOf(tableName: string) {
    const client = localClient(local().endpoint, requestTimeoutMs);
    await createTable(client, tableName);
    return { client, store: dynamodbStore({ ...ports, client, tableName }), close: () => client.destroy() };
  }

  storeContract('DynamoDB Local', () => tableOf('contract'));
  hangContract('DynamoDB Local', () => tableOf('hangs'));

  test('types that this product never writes read as null, and the rest of the item as it is', async () => {
    const { client, store, close } = await tableOf('foreign');
    const Item = { pk: { S: 'p' }, sk: { S: 's' }, set: { SS: ['x'] }, bytes: { B: new Uint8Array(1) }, n: { N: '1' } };
    await client.send(new PutItemCommand({ TableName: 'foreign', Item }));
    assert.deepEqual(await store.get({ pk: 'p', sk: 's' }), { pk: 'p', sk: 's', set: null, bytes: null, n: 1 });
    close();
  });

  test('a table that does not exist is an unavailable store', async () => {
    const client = localClient(local().endpoint, requestTimeoutMs);
    const store = dynamodbStore({ ...ports, client, tableName: 'missing' });
    await assert.rejects(store.get({ pk: 'p', sk: 's' }), StoreUnavailable);
    await assert.rejects(store.write([{ kind: 'put', item: { pk: 'p', sk: 's' } }], { token: 'a' }), StoreUnavailable);
    client.destroy();
  });

  test('its units are those that are counted for a store of another kind', async () => {
    const { client, close } = await tableOf('units');
    const [theirs, ours]: [StoreCall[], StoreCall[]] = [[], []];
    const sqlite = sqliteStore({ path: ':memory:' });
    await exercise(dynamodbStore({ ...ports, client, tableName: 'units', onCall: (call) => theirs.push(call) }));
    await exercise(countedStore(sqlite, (call) => ours.push(call)));
    assert.deepEqual(ours, theirs);
    sqlite.close();
    close();
  });
});

async function exercise(store: Store): Promise<void> {
  const key = { pk: 'p', sk: 's' };
  const attributes = { blob: 'x'.repeat(9000), numbers: [1, 22.5, -333], map: { a: null, b: true } };
  await store.write([{ kind: 'put', item: { ...key, ...attributes } }], { token: 'a' });
  await store.write([{ kind: 'update', key, set: { blob: 'short' } }], { token: 'b' });
  await store.write([{ kind: 'update', key, add: { n: 1 }, if: [{ kind: 'notExists' }] }], { token: 'c' });
  await store.write(
    [
      { kind: 'check', key, if: [{ kind: 'exists' }] },
      { kind: 'put', item: { pk: 'p', sk: 't', blob: 'y'.repeat(3000) } },
    ],
    { token: 'd' },
  );
  await store.get(key);
  await store.get({ pk: 'p', sk: 't' }, { eventuallyConsistent: true });
  await store.get({ pk: 'p', sk: 'missing' });
  await store.query({ pk: 'p' });
}
