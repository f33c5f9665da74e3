/**
 * DynamoDB Local, from before the first test of a file until after its last, with stores behind proxies that inflict
 * faults.
 */
import { after, before } from 'node:test';
import type { Clock } from '../../shared/lib/clock.ts';
import { dynamodbStore } from '../../shared/store/dynamodb/dynamodb.ts';
import type { Store } from '../../shared/store/store.ts';
import { createTable, type DynamodbLocal, localClient, startDynamodbLocal } from '../support/dynamodb-local.ts';
import { type FaultProxy, startFaultProxy } from '../support/fault-proxy.ts';
import { pythonPrograms } from '../support/python-programs.ts';

/** Longer than any call takes that is not delayed on purpose. */
export const requestTimeoutMs = 20_000;

/** No pauses between the sends of a write. */
export const random = { next: () => 0, uuid: () => crypto.randomUUID() };

export type Bench = { readonly proxy: FaultProxy; readonly store: Store; readonly tableName: string };

export type BenchOptions = { readonly tableName: string; readonly clock: Clock; readonly timeoutMs?: number };

export function dynamodbForTests(setUp: (local: DynamodbLocal) => Promise<void> = async () => {}) {
  pythonPrograms();
  let started: DynamodbLocal | undefined;
  const local = (): DynamodbLocal => {
    if (!started) throw new Error('DynamoDB Local runs only within tests');
    return started;
  };
  before(async () => {
    started = await startDynamodbLocal();
    await setUp(started);
  });
  after(() => started?.stop());

  /** A client that ends with `use`. */
  async function withClient<Result>(
    use: (client: ReturnType<typeof localClient>) => Promise<Result>,
    { endpoint = local().endpoint, timeoutMs = requestTimeoutMs } = {},
  ): Promise<Result> {
    const client = localClient(endpoint, timeoutMs);
    try {
      return await use(client);
    } finally {
      client.destroy();
    }
  }

  return {
    local,
    withClient,
    createTable: (tableName: string) => withClient((client) => createTable(client, tableName)),
    /** A store behind a proxy of its own. */
    async withBench<Result>(
      { tableName, clock, timeoutMs = requestTimeoutMs }: BenchOptions,
      use: (bench: Bench) => Promise<Result>,
    ): Promise<Result> {
      const proxy = await startFaultProxy(local());
      const ofProxy = { endpoint: proxy.endpoint, timeoutMs };
      try {
        return await withClient(
          (client) => use({ proxy, tableName, store: dynamodbStore({ client, tableName, clock, random }) }),
          ofProxy,
        );
      } finally {
        await proxy.idle();
        await proxy.close();
      }
    },
  };
}
