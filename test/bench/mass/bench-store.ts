/** The stores that a mass event is measured on, each new and empty. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../../../shared/lib/clock.ts';
import { systemRandom } from '../../../shared/lib/random.ts';
import { dynamodbStore } from '../../../shared/store/dynamodb.ts';
import { sqliteStore } from '../../../shared/store/sqlite.ts';
import type { Store } from '../../../shared/store/store.ts';
import { createTable, localClient, startDynamodbLocal } from '../../support/dynamodb-local.ts';

export type BenchStore = {
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
export async function dynamodbTable(): Promise<BenchStore> {
  const local = await startDynamodbLocal();
  const patientClient = localClient(local.endpoint, patientTimeoutMs);
  const clients = [localClient(local.endpoint), localClient(local.endpoint), patientClient];
  await createTable(patientClient, tableName);
  const [store, fencedStore, patient] = clients.map((client) =>
    dynamodbStore({ client, tableName, clock: systemClock, random: systemRandom }),
  ) as [Store, Store, Store];
  const close = async () => {
    for (const client of clients) client.destroy();
    await local.stop();
  };
  return { store, fencedStore, patient, close };
}
