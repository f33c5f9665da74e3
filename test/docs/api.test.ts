/** The examples of docs/api.md, run with curl against the product, one after the other. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { promisify } from 'node:util';
import { getRequestListener } from '@hono/node-server';
import { type Runtime, startRuntime } from '../../functions/local/process/runtime.ts';
import { systemClock } from '../../shared/lib/clock.ts';
import { systemRandom } from '../../shared/lib/random.ts';
import { fencesOf } from '../support/markdown.ts';
import { recordingLog } from '../support/recording-log.ts';

const markdown = readFileSync(join(import.meta.dirname, '../../docs/api.md'), 'utf8');
const examples = fencesOf(markdown, 'sh');
/** Answers what the document says that an example gets. */
const expectedStatuses = (example: string) => [...example.matchAll(/# (\d{3})$/gm)].map(([, status]) => status);

/** Each curl shows its headers and body in files and prints its status only. */
const shadowedCurl = `curl() { command curl -sS -D headers -o body -w '%{http_code}\\n' --max-time 20 "$@"; }\n`;

describe('docs/api.md', () => {
  const folder = mkdtempSync(join(tmpdir(), 'probelet-docs-'));
  let runtime: Runtime;
  let server: Server;
  let origin: string;

  before(async () => {
    runtime = startRuntime({ dataDir: ':memory:' }, { clock: systemClock, random: systemRandom, log: recordingLog() });
    server = createServer(getRequestListener(runtime.fetch));
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
    origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    await runtime.shard.loaded;
  });
  after(async () => {
    server.closeAllConnections();
    server.close();
    await runtime.stop();
    rmSync(folder, { recursive: true });
  });

  const run = async (example: string) => {
    const script = shadowedCurl + example.replaceAll('http://127.0.0.1:8080', origin);
    const { stdout } = await promisify(execFile)('bash', ['-euc', script], { cwd: folder });
    return stdout.split('\n').filter((line) => line !== '');
  };
  const received = (file: 'headers' | 'body') => readFileSync(join(folder, file), 'utf8');

  for (const [index, example] of examples.entries())
    test(`example ${index + 1} answers as it says`, async () => {
      assert.deepEqual(await run(example), expectedStatuses(example), received('body'));
      if (example.includes('kind: Pod')) assertWarning(received('headers'), 'not stored');
      if (example.includes('169.254.')) assertWarning(received('headers'), 'cannot run');
      if (example.includes('"App"'))
        assert.deepEqual(JSON.parse(received('body')), shownJson('/spec/containers/0/name'));
      if (example.includes('kind: List')) assert.deepEqual(JSON.parse(received('body')).items[1], shownJson('"item"'));
    });

  test('has a row for every route, and every route a row', async () => {
    const response = await runtime.fetch(new Request(`${origin}/openapi.json`));
    const { paths } = (await response.json()) as { readonly paths: { readonly [path: string]: object } };
    const served = Object.entries(paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
    );
    const target = '/v1/namespaces/{namespace}/targets/{name}';
    const described = [...markdown.matchAll(/^\| `([A-Z]+ [^`]+)` \|/gm)].map(([, route = '']) =>
      route.replace('…/{name}', target),
    );
    assert.deepEqual(described.sort(), served.sort());
  });
});

const assertWarning = (headers: string, about: string) => {
  const [shown = ''] = fencesOf(markdown, 'text').filter((fence) => fence.includes(about));
  assert.notEqual(shown, '');
  assert.ok(headers.includes(shown.trim()), headers);
};

/** The example of an answer that has this text. */
const shownJson = (text: string): unknown =>
  JSON.parse(fencesOf(markdown, 'json').find((example) => example.includes(text)) ?? 'null');
