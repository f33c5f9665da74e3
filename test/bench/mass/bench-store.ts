/** The stores that a mass event is measured on, each new and empty. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../../../shared/lib/clock.ts';
import { systemRandom } from '../../../shared/lib/random.ts';
import { dynamodbStore } from '../../../shared/store/dynamodb/dynamodb.ts';
import { sqliteStore } from '../../../shared/store/sqlite/sqlite.ts';
import type { Store } from '../../../shared/store/store.ts';
import { patientStore } from '../../../shared/store/throttled.ts';
import { createTable, localClient, startDynamodbLocal } from '../../support/dynamodb-local.ts';
import { startFaultProxy } from '../../support/fault-proxy.ts';
import { type LimitedWrites, limitedWrites } from './limited-writes.ts';

export type BenchStore = {
  /** Of its writes. Absent: it takes whatever comes. */
  readonly limited?: LimitedWrites & { readonly unitsPerSecond: number; begin(): void };
  readonly store: Store;
  /** What beats, claims and commits go through. */
  readonly fencedStore: Store;
  /** More patient, for what is written before and read after the measurement. */
  readonly patient: Store;
  readonly close: () => Promise<void>;
};

export async function sqliteFile(): Promise<BenchStore> {
  const folder = mkdtempSync(join(tmpdir(), 'probelet-mass-'));
  const store = sqliteStore({ path: join(folder, 'probelet.db') });
  const close = async () => {
    store.close();
    rmSync(folder, { recursive: true, force: true });
  };
  return { store, fencedStore: store, patient: store, close };
}

const tableName = 'mass';
const patientTimeoutMs = 60_000;

/** DynamoDB Local in a process of its own, behind two clients as the product has them. */
export const dynamodbTable = (): Promise<BenchStore> => tableBehind(undefined);

/** The same with so many write units a second, once the measurement begins: 4,000 are those of a new table. */
export const limitedTable = (unitsPerSecond: number) => (): Promise<BenchStore> => tableBehind(unitsPerSecond);

async function tableBehind(unitsPerSecond: number | undefined): Promise<BenchStore> {
  const local = await startDynamodbLocal();
  const patientClient = localClient(local.endpoint, patientTimeoutMs);
  await createTable(patientClient, tableName);
  const proxy = unitsPerSecond === undefined ? undefined : await startFaultProxy(local);
  const endpoint = proxy?.endpoint ?? local.endpoint;
  const clients = [localClient(endpoint), localClient(endpoint), patientClient];
  const ports = { clock: systemClock, random: systemRandom };
  const [store, fencedStore, patient] = clients.map((client) => dynamodbStore({ client, tableName, ...ports })) as [
    Store,
    Store,
    Store,
  ];
  const close = async () => {
    for (const client of clients) client.destroy();
    await proxy?.close();
    await local.stop();
  };
  const stores = { store: patientStore(store, ports), fencedStore, patient, close };
  if (!proxy || unitsPerSecond === undefined) return stores;
  const writes = limitedWrites(unitsPerSecond);
  return { ...stores, limited: { ...writes, unitsPerSecond, begin: () => proxy.play(writes.script) } };
}
