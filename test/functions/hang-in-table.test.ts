/** A hang is counted in the table by a thread of the process that hangs, with the code of the deployed function. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { before, describe, type TestContext, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { bundling, entryFile } from '../../functions/bundling.ts';
import { systemClock } from '../../shared/lib/clock.ts';
import { systemRandom } from '../../shared/lib/random.ts';
import { dynamodbStore } from '../../shared/store/dynamodb/dynamodb.ts';
import { decodeHang, encodeTarget } from '../../shared/store/records/items.ts';
import { hangKey, targetAddress } from '../../shared/store/records/keys.ts';
import { dynamodbForTests } from '../store/dynamodb-bench.ts';
import { createTable, type DynamodbLocal, localClient } from '../support/dynamodb-local.ts';
import { targetRecordOf } from '../support/pods.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const rememberModule = join(import.meta.dirname, '../../functions/watchdog/remember.ts');
const program = join(import.meta.dirname, 'hanging-function.ts');
const patienceMs = 20_000;

describe('a hang is in the table before its process ends', { concurrency: true }, () => {
  const bundle = join(temporaryFolder(), 'prober.mjs');
  const { local } = dynamodbForTests();
  before(async () => {
    const { banner, ...options } = bundling;
    await build({ ...options, entryPoints: [entryFile('prober')], outfile: bundle, banner: { js: banner } });
  });

  test('of the prober function, by its bundle', (t) =>
    hangs(t, { local: local(), module: bundle, tableName: 'function' }));

  test('of a worker', (t) => hangs(t, { local: local(), module: rememberModule, tableName: 'worker' }));
});

type Hanging = { readonly local: DynamodbLocal; readonly module: string; readonly tableName: string };

async function hangs(t: TestContext, { local, module, tableName }: Hanging): Promise<void> {
  const client = localClient(local.endpoint, patienceMs);
  t.after(() => client.destroy());
  await createTable(client, tableName);
  const store = dynamodbStore({ clock: systemClock, random: systemRandom, client, tableName });
  const target = targetRecordOf();
  const address = targetAddress(target.namespace, target.name);
  await store.write([{ kind: 'put', item: encodeTarget(address, target) }], { token: 'registered' });

  const noListener = 'http://127.0.0.1:9';
  const env = {
    ...{ AWS_REGION: 'us-east-1', AWS_ACCESS_KEY_ID: 'local', AWS_SECRET_ACCESS_KEY: 'local' },
    ...{ AWS_ENDPOINT_URL: noListener, AWS_ENDPOINT_URL_DYNAMODB: local.endpoint },
    ...{ PROBELET_TABLE: 'of-the-environment', PROBELET_BUS: 'probes', PROBELET_RELEASE: 'r1' },
    PROBELET_SHARD_QUEUE_URL: `${noListener}/queue.fifo`,
  };
  const name = `default\n${target.name}\n${target.uid}\n${target.generation}\napp\nliveness`;
  const args = [program, pathToFileURL(module).href, tableName, name];
  const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'inherit'] });
  t.after(() => child.kill('SIGKILL'));
  const output = text(child.stdout);
  const [, signal] = await once(child, 'close', { signal: AbortSignal.timeout(patienceMs) });

  assert.equal(signal, 'SIGKILL', await output);
  // Parses only if it is one line.
  const { level, message, target: hung } = JSON.parse(await output);
  assert.deepEqual([level, message, hung], ['FATAL', 'the event loop hangs: the process ends', target.name]);
  const item = await store.get(hangKey(address));
  const decoded = item && decodeHang(item);
  assert.deepEqual(decoded?.kind === 'ok' && decoded.record.hangs, { 'app#liveness': 1 });
}
