/** The command line against the whole product, which probes in real time. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { startRuntime } from '../../../functions/local/process/runtime.ts';
import { systemClock } from '../../../shared/lib/clock.ts';
import { systemRandom } from '../../../shared/lib/random.ts';
import { freePort } from '../../support/free-port.ts';
import { recordingLog } from '../../support/recording-log.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { until } from '../../support/wait.ts';
import { ranCli } from './run.ts';
import { served } from './served.ts';

/** The whole product on a port of loopback, and the command line that talks to it. */
async function live(t: TestContext) {
  const runtime = startRuntime(
    { dataDir: ':memory:' },
    { clock: systemClock, random: systemRandom, log: recordingLog() },
  );
  t.after(() => runtime.stop());
  await runtime.shard.loaded;
  const url = await served(runtime.fetch);
  const run = (...args: readonly string[]) => ranCli(args, { env: { PROBELET_URL: url }, clock: systemClock });
  return { runtime, run, url };
}

const root = join(import.meta.dirname, '../../..');
const readme = readFileSync(join(root, 'README.md'), 'utf8');

/** The commands of the README about a port where nothing listens, with its manifest in a file. */
function readmeCommands(file: string, port: number): readonly (readonly string[])[] {
  const [, block = ''] = /```sh\n(alias probelet=[\s\S]*?)```/.exec(readme) ?? [];
  const [, manifest = ''] = /<<'EOF'\n([\s\S]*?)EOF\n/.exec(block) ?? [];
  writeFileSync(file, manifest.replace('5432', String(port)));
  const lines = block.split('\n').filter((line) => line.startsWith('probelet '));
  return lines.map((line) => line.replace("- <<'EOF'", file).split(' ').slice(1));
}

test('the README shows what its commands print', async (t) => {
  const { run } = await live(t);
  const [apply = [], get = [], events = []] = readmeCommands(join(temporaryFolder(t), 'db.yaml'), await freePort());
  assert.equal((await run(...apply)).out, 'target/db created\n');
  await run('wait', 'target/db', '--for=condition=Ready=False', '--timeout', '20s');
  assert.match(
    (await run(...get)).out,
    /^NAME {3}READY {3}STATUS {4}RESTARTS {3}AGE\ndb {5}0\/1 {5}Running {3}0 {10}\ds\n$/,
  );
  assert.match(
    (await run(...events)).out,
    /Warning {3}Unhealthy {12}target\/db {3}Readiness probe failed: dial tcp 127\.0\.0\.1:\d+: connect: connection refused\n/,
  );
});

test('the command of the README runs in every folder, on the Node of the clone', (t) => {
  const [, alias = ''] = /^(alias probelet=.*)$/m.exec(readme) ?? [];
  const folder = temporaryFolder(t);
  writeFileSync(
    join(folder, 'db.yaml'),
    'metadata: { name: db }\nspec: { host: a, livenessProbe: { tcpSocket: { port: 1 } } }\n',
  );
  // As a terminal reads it: an alias counts from the next line on. The Node of the PATH is too old for the sources.
  writeFileSync(join(folder, 'node'), '#!/bin/sh\nexit 99\n', { mode: 0o755 });
  const script = `shopt -s expand_aliases\n${alias}\ncd "${folder}"\nprobelet convert -f db.yaml\nprobelet --version\n`;
  const { stdout, stderr, status } = spawnSync('bash', ['--norc', '-c', script], {
    cwd: root,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH: `${folder}:/usr/bin:/bin` },
  });
  assert.deepEqual([status, stderr], [0, '1 target: 1 exact, 0 approximated; nothing is left out.\n']);
  assert.match(stdout, /^ {2}host: a$[\s\S]*\n\d+\.\d+\.\d+\n$/m);
});

test('a target that is down is seen by wait, get, probe and events', async (t) => {
  const { runtime, run, url } = await live(t);
  const readinessProbe = { tcpSocket: { port: await freePort() }, periodSeconds: 1, failureThreshold: 1 };
  await runtime.fetch(
    new Request(`${url}/v1/namespaces/default/targets/db`, {
      method: 'PUT',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ spec: { host: '127.0.0.1', readinessProbe } }),
    }),
  );
  const waited = await run('wait', 'target/db', '--for=condition=Ready=False', '--timeout', '20s');
  assert.deepEqual(waited, { code: 0, out: 'target/db condition met\n', err: [] });
  assert.match((await run('get', 'targets')).out, /^NAME {3}READY .*\ndb +0\/1 +Running +0 +\d+s\n$/);
  assert.match((await run('get', 'probes', '-o', 'wide')).out, /readiness +failure +\w+ .*connection refused/);
  assert.match((await run('events', 'db')).out, /Unhealthy +target\/db +Readiness probe failed: dial tcp 127\.0\.0\.1/);
  const probed = await run('probe', 'target/db');
  assert.deepEqual([probed.code, probed.err], [1, []]);
  assert.match(probed.out, /readiness +failure/);
});

test('a sidecar and a failing liveness are seen in the row of the target', async (t) => {
  const { runtime, run, url } = await live(t);
  const closed = { tcpSocket: { port: await freePort() }, periodSeconds: 1, failureThreshold: 1 };
  const open = createServer((socket) => socket.end()).listen(0, '127.0.0.1');
  t.after(() => open.close());
  await once(open, 'listening');
  const { port } = open.address() as AddressInfo;
  const ask = async (method: string, path: string, body: object) => {
    const headers = { 'content-type': 'application/json' };
    const address = `${url}/v1/namespaces/default/targets/${path}`;
    return (await runtime.fetch(new Request(address, { method, headers, body: JSON.stringify(body) }))).status;
  };
  const sidecar = { name: 'proxy', restartPolicy: 'Always', readinessProbe: closed };
  const app = { name: 'app', readinessProbe: { tcpSocket: { port }, periodSeconds: 1 } };
  await ask('PUT', 'pod', { spec: { host: '127.0.0.1', initContainers: [sidecar], containers: [app] } });
  await ask('PUT', 'dead', { spec: { host: '127.0.0.1', containers: [{ ...app, livenessProbe: closed }] } });
  await run('wait', 'target/pod', '--for=condition=Ready=False', '--timeout', '20s');
  const row = async (name: string) => ((await run('get', 'target', name)).out.split('\n')[1] ?? '').trim();
  let seen = '';
  const shows = (name: string, wanted: RegExp) =>
    until(
      () => seen,
      20_000,
      async () => {
        seen = await row(name);
        return wanted.test(seen);
      },
    );
  await shows('pod', /^pod +1\/2 +Running +0 +\d+s$/);
  await shows('dead', /^dead +1\/1 +RestartRequested +0 \(1 requested\) +\d+s$/);
  assert.equal(await ask('POST', 'dead/restarted', {}), 200);
  await shows('dead', /^dead +1\/1 +\w+ +1( \(\d requested\))? +\d+s$/);
});

test('delete waits until the name is free, so that apply can follow', async (t) => {
  const { run } = await live(t);
  const file = join(temporaryFolder(t), 'a.yaml');
  writeFileSync(file, 'metadata: { name: a }\nspec: { host: 127.0.0.1, livenessProbe: { tcpSocket: { port: 1 } } }\n');
  assert.equal((await run('apply', '-f', file)).code, 0);
  assert.deepEqual(await run('delete', 'target/a', '--now'), { code: 0, out: 'target/a deleted\n', err: [] });
  assert.deepEqual(await run('apply', '-f', file), { code: 0, out: 'target/a created\n', err: [] });
  await run('delete', 'target/a', '--grace-period=1', '--wait=false');
  assert.deepEqual(await run('wait', 'target/a', '--for=delete'), { code: 0, out: 'target/a deleted\n', err: [] });
});

test('probe ends with what it has found, although the result stays and the next period is far', async (t) => {
  const { run } = await live(t);
  const server = createServer((socket) => socket.end()).listen(0, '127.0.0.1');
  t.after(() => server.close());
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const file = join(temporaryFolder(t), 'db.yaml');
  const probe = `{ tcpSocket: { port: ${port} }, periodSeconds: 3600 }`;
  writeFileSync(file, `metadata: { name: db }\nspec: { host: 127.0.0.1, readinessProbe: ${probe} }\n`);
  await run('apply', '-f', file);
  assert.equal((await run('wait', 'target/db', '--for=condition=Ready', '--timeout', '20s')).code, 0);
  const phases = 'connect \\d+\\.\\d ms, total \\d+\\.\\d ms';
  const up = await run('probe', 'target/db');
  assert.deepEqual([up.code, up.err], [0, []]);
  assert.match(
    up.out,
    new RegExp(
      `^readiness probe of default/db, container main: success\n  .*${phases}\nTARGET .*\ndb +main +readiness +success`,
    ),
  );
  server.close();
  const down = await run('probe', 'target/db');
  assert.equal(down.code, 1);
  assert.match(down.out, /: failure\n {2}.* ms\n {2}dial tcp .* refused\n {2}CONNECT_REFUSED\n/);
  assert.match(down.out, /\ndb +main +readiness +success/, 'one failure is below the threshold');
  const simulated = await run('simulate', '--target', 'db', '--failure-threshold', '1');
  assert.deepEqual([simulated.code, simulated.err], [0, []]);
  assert.deepEqual(
    simulated.out
      .split('\n')
      .map((line) =>
        line
          .replaceAll(/ {3,}|\d{4}-\S+/g, ' ')
          .replaceAll(/ +/g, ' ')
          .trim(),
      )
      .slice(0, 5),
    [
      'readiness probe of default/db, container main: failureThreshold 1 instead of 3, successThreshold 1',
      'PROBE TIME FINDING RUN RESULT EFFECT PUBLISHED',
      '1 success 1/1 success known from here on success',
      '2 success 1/1 success',
      '3 failure 1/1 failure the container is not ready',
    ],
  );
});
