/** `probelet/client`, as programs of other people use it. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { promisify } from 'node:util';
import { startRuntime } from '../../../functions/local/process/runtime.ts';
import { ClientError, probeletClient, type TargetView } from '../../../package/client.ts';
import { systemClock } from '../../../shared/lib/clock.ts';
import { systemRandom } from '../../../shared/lib/random.ts';
import { freePort } from '../../support/free-port.ts';
import { fencesOf } from '../../support/markdown.ts';
import { recordingLog } from '../../support/recording-log.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { until } from '../../support/wait.ts';
import { foreignServer, served, servedWorld } from '../cli/served.ts';

const countOf = (target: TargetView | undefined) => target?.status.containerStatuses[0]?.restartCount;

const root = new URL('../../../', import.meta.url);

test('the example of docs/package.md registers a target and watches its probes', async (t) => {
  const runtime = startRuntime(
    { dataDir: ':memory:' },
    { clock: systemClock, random: systemRandom, log: recordingLog() },
  );
  t.after(() => runtime.stop());
  await runtime.shard.loaded;
  const [example = ''] = fencesOf(readFileSync(new URL('docs/package.md', root), 'utf8'), 'ts').filter((text) =>
    text.includes("from 'probelet/client'"),
  );
  const file = join(temporaryFolder(t), 'example.ts');
  const program = example
    .replace("'probelet/client'", JSON.stringify(new URL('package/client.ts', root).href))
    .replaceAll('5432', `${await freePort()}`);
  writeFileSync(file, program);
  const env = { PATH: process.env.PATH, PROBELET_URL: await served(runtime.fetch) };
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [file], { env, timeout: 30_000 });
  assert.equal(stderr, '');
  assert.match(stdout, /^201 stored\nlist readiness \w+\n(event readiness unknown\n)*(event readiness failure\n)?$/);
  assert.match(stdout, /failure\n$/);
});

describe('a client', async () => {
  const { url, world } = await servedWorld();
  const named = { namespace: 'default', name: 'a' };

  test('reports a restart, once for a container', async (t) => {
    const client = probeletClient({ url });
    t.after(() => client.close());
    assert.equal(await client.restarted(named), undefined);
    await world.expect(201, 'PUT', '/v1/namespaces/default/targets/a', {
      spec: { host: 'a', containers: [{ name: 'a' }] },
    });
    const before = await client.target(named);
    const containerID = before?.status.containerStatuses[0]?.containerID ?? '';
    for (const _ of ['first', 'again']) assert.ok(await client.restarted(named, { container: 'a', containerID }));
    // The status follows within moments.
    await until('the restart counts', 5_000, async () => countOf(await client.target(named)) === 1);
  });

  test('ends its requests with the signal, and says so by an error of its own class', async (t) => {
    const over = new AbortController();
    const silent = await foreignServer(() => over.abort());
    const client = probeletClient({ url: silent, signal: over.signal });
    t.after(() => client.close());
    await assert.rejects(client.health(), (error) => error instanceof ClientError && error.fault === 'unreachable');
  });

  test('needs an address that is one, and a region to sign', () => {
    assert.throws(() => probeletClient({ url: 'ftp://a' }), /^TypeError: url: ftp: is neither http nor https$/);
    assert.throws(() => probeletClient({ url: 'no' }), TypeError);
    assert.throws(
      () => probeletClient({ url: 'https://a.example', aws: {} }),
      /^RangeError: aws\.region: a\.example does not say its region, so name it$/,
    );
  });

  test('signs with the credentials that it is given', async (t) => {
    const seen: (string | undefined)[] = [];
    const gateway = await foreignServer((request, response) => {
      seen.push(request.headers.authorization);
      response.writeHead(200, { 'content-type': 'application/json' }).end('{"metadata":{},"items":[]}');
    });
    const credentials = async () => ({ accessKeyId: 'A', secretAccessKey: 'b' });
    const client = probeletClient({ url: gateway, aws: { region: 'eu-west-1', credentials } });
    t.after(() => client.close());
    for await (const target of client.targets()) assert.fail(target.metadata.name);
    assert.match(seen.join(), /^AWS4-HMAC-SHA256 Credential=A\/\d{8}\/eu-west-1\/execute-api\/aws4_request, /);
  });
});
