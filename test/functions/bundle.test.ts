import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { describe, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { type BundleName, bundling, entryFile, type FunctionName, functionNames } from '../../functions/bundling.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const bytesMax = 1_200_000;
const run = promisify(execFile);

/** A port without a listener: what goes through the bundle's HTTP client fails there, and nowhere else. */
const noListener = 'http://127.0.0.1:9';
const environment = {
  AWS_REGION: 'us-east-1',
  AWS_ACCESS_KEY_ID: 'local',
  AWS_SECRET_ACCESS_KEY: 'local',
  AWS_ENDPOINT_URL: noListener,
  PROBELET_TABLE: 'targets',
  PROBELET_BUS: 'probes',
  PROBELET_SHARD_QUEUE_URL: `${noListener}/queue.fifo`,
  PROBELET_RELEASE: 'r1',
  PROBELET_MODE: 'auto',
  PROBELET_CAPACITY_MB: '256',
};

/** Loads the bundle as Lambda's runtime does and calls it once; its last line is what came of it. */
const invoke = `
const { handler } = await import(process.argv[1]);
const context = { awsRequestId: 'r', getRemainingTimeInMillis: () => 29000 };
const outcome = await handler(JSON.parse(process.argv[2]), context).catch(({ name }) => ({ thrown: name }));
console.log(JSON.stringify({ outcome }));
process.exit();
`;

describe('the bundle of a function', { concurrency: false }, () => {
  const folder = temporaryFolder();

  const bundled = async (name: BundleName) => {
    const outfile = join(folder, `${name}.mjs`);
    const { banner, ...options } = bundling;
    await build({ ...options, entryPoints: [entryFile(name)], outfile, banner: { js: banner } });
    return outfile;
  };
  const invoked = async (file: string, event: unknown, env: object = environment) => {
    const args = ['--input-type=module', '--eval', invoke, pathToFileURL(file).href, JSON.stringify(event)];
    const { stdout } = await run(process.execPath, args, { env: { ...env } });
    return stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
  };

  const hint = JSON.stringify({ detail: { target: { namespace: 'default', name: 'checkout' } } });
  const http = { http: { method: 'GET' }, authorizer: { iam: { callerId: 'me' } } };
  const table: { readonly [name in FunctionName]: { readonly event: unknown; readonly expected: object } } = {
    schedule: { event: {}, expected: { thrown: 'StoreUnavailable' } },
    // As its deployment asks it whether it starts.
    prober: { event: {}, expected: { thrown: 'StoreUnavailable' } },
    'status-sync': {
      event: { Records: [{ messageId: 'm', body: hint }] },
      expected: { batchItemFailures: [{ itemIdentifier: 'm' }] },
    },
    api: {
      event: { version: '2.0', rawPath: '/v1/targets', requestContext: http },
      expected: { statusCode: 503 },
    },
  };
  for (const name of functionNames)
    test(`${name} is small enough, and works without anything beside it`, async () => {
      const file = await bundled(name);
      assert.ok(statSync(file).size <= bytesMax, `${statSync(file).size} bytes`);
      const { event, expected } = table[name];
      const { outcome } = (await invoked(file, event)).at(-1);
      assert.deepEqual({ ...outcome, ...expected }, outcome);
    });

  test('of a task is small enough, waits for messages without anything beside it, and ends by SIGTERM', async () => {
    const file = await bundled('task');
    assert.ok(statSync(file).size <= bytesMax, `${statSync(file).size} bytes`);
    const task = spawn(process.execPath, [file], { env: environment, stdio: ['ignore', 'pipe', 'inherit'] });
    const lines: { readonly message: string }[] = [];
    createInterface(task.stdout).on('line', (text) => {
      lines.push(JSON.parse(text));
      // Received nothing: there is no queue. It continues.
      if (lines.at(-1)?.message === 'nothing received') task.kill('SIGTERM');
    });
    assert.deepEqual(await once(task, 'exit'), [0, null]);
    assert.deepEqual([lines[0]?.message, lines.at(-1)?.message], ['task started', 'stopped']);
  });

  test('logs errors with the lines of the source', async () => {
    const lines = await invoked(await bundled('schedule'), {});
    const { cause } = lines.find(({ message }) => message === 'the schedule failed');
    assert.match(cause.stack, /at .*shared\/store\/dynamodb\/dynamodb\.ts:\d+:\d+\)?$/m);
    assert.doesNotMatch(cause.stack, /schedule\.mjs/);
  });

  test('does not start without its environment, and says what is missing', async () => {
    const file = await bundled('schedule');
    await assert.rejects(invoked(file, {}, { AWS_REGION: 'us-east-1', PROBELET_TABLE: 'targets' }), ({ stderr }) =>
      /InvalidEnvironment: PROBELET_BUS is missing; PROBELET_SHARD_QUEUE_URL is missing; /.test(stderr),
    );
  });
});
