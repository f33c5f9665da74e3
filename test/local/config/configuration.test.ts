/** `npm start -- --config`: targets are as the files say, through every change of them. */
import assert from 'node:assert/strict';
import { chmodSync, chownSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { readConfigFile } from '../../../functions/local/config/config-file.ts';
import { startRuntime } from '../../../functions/local/process/runtime.ts';
import { sleep, systemClock } from '../../../shared/lib/clock.ts';
import { systemRandom } from '../../../shared/lib/random.ts';
import { type AnswerBody, askApi, register, targetPath } from '../../support/api-client.ts';
import { fastClock } from '../../support/fast-clock.ts';
import { recordingLog } from '../../support/recording-log.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { until } from '../../support/wait.ts';
import { webRelease } from '../../support/web-release.ts';
import { startProduct } from '../product.ts';

const spec = { host: '127.0.0.1', readinessProbe: { tcpSocket: { port: 9 } } };

const wayOut = { kind: 'named', canaries: [] } as const;

const probe = 'readinessProbe: { tcpSocket: { port: 9 }, periodSeconds: 1, failureThreshold: 1 }';

const target = (name: string, address = 'host: 127.0.0.1') =>
  `metadata: { name: ${name} }\nspec:\n  ${address}\n  ${probe}\n`;

type Files = { readonly [name: string]: string };

/** Each file appears at once. */
function written(folder: string, files: Files): void {
  for (const [name, text] of Object.entries(files)) {
    const path = join(folder, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(`${path}~`, text);
    renameSync(`${path}~`, path);
  }
}

function worldWith(t: TestContext, files: Files, quotas = {}) {
  const folder = temporaryFolder(t);
  const write = (changed: Files) => written(folder, changed);
  write(files);
  const log = recordingLog();
  const config = readConfigFile(join(folder, 'probelet.yaml'));
  const ports = {
    clock: systemClock,
    random: systemRandom,
    log,
    wayOut,
    alertClock: fastClock,
    configClock: fastClock,
  };
  const runtime = startRuntime({ dataDir: ':memory:', config, quotas }, ports);
  t.after(() => runtime.stop());
  const items = async () => (await askApi(runtime, 'GET', '/v1/targets')).body.items;
  const names = async () => (await items()).filter(isKept).map(nameOf).sort().join(' ');
  /** Until these targets are there, and no others. */
  const shows = (wanted: string) => {
    let found = '';
    return until(
      () => `there are ${wanted}, but there are ${found}`,
      { withinMs: 15_000, pollMs: 50 },
      async () => {
        found = await names();
        return found === wanted;
      },
    );
  };
  const logs = (level: string, detail: RegExp) =>
    until(`the log says ${detail}`, { withinMs: 15_000, pollMs: 50 }, async () =>
      log.lines.find((line) => line.level === level && detail.test(JSON.stringify([line.message, line.fields]))),
    );
  return { folder, write, runtime, items, shows, logs, log };
}

const isKept = ({ metadata }: AnswerBody): boolean => metadata.deletionTimestamp === undefined;
const nameOf = ({ metadata }: AnswerBody): string => `${metadata.namespace}/${metadata.name}`;

test('targets follow the files, and nothing else is touched', async (t) => {
  const world = worldWith(t, {
    'probelet.yaml': 'targets:\n  - targets/*.yaml\n  - { files: [other.yaml], namespace: shop, host: 10.0.0.7 }\n',
    'targets/a.yaml': `${target('one')}---\n${target('two')}`,
    'targets/b.yaml': target('three'),
    'other.yaml': target('four', 'lifecycle: static'),
  });
  await register(world.runtime, 'by-hand', spec);
  await world.shows('default/by-hand default/one default/three default/two shop/four');
  const four = (await world.items()).find((item) => nameOf(item) === 'shop/four');
  assert.equal(four?.spec.host, '10.0.0.7');
  assert.equal(four?.metadata.annotations['probelet.dev/config-file'], 'other.yaml');

  world.write({ 'targets/a.yaml': target('one'), 'targets/c.yaml': target('five') });
  await world.shows('default/by-hand default/five default/one default/three shop/four');

  world.write({ 'targets/a.yaml': 'metadata: { name: one }\nspec:\n  hots: 127.0.0.1\n' });
  const fault = await world.logs('error', /unknown field/);
  assert.deepEqual([fault.fields?.file, fault.fields?.line, fault.fields?.column], ['targets/a.yaml', 3, 3]);
  world.write({ 'targets/c.yaml': '' });
  assert.equal((await world.logs('error', /is empty/)).fields?.file, 'targets/c.yaml');
  rmSync(join(world.folder, 'targets/b.yaml'));
  rmSync(join(world.folder, 'other.yaml'));
  await world.shows('default/by-hand default/five default/one shop/four');
  assert.match(JSON.stringify(await world.logs('error', /there is no such file/)), /other\.yaml/);

  renameSync(join(world.folder, 'targets'), join(world.folder, 'away'));
  await world.logs('error', /there is no folder/);
  await world.shows('default/by-hand default/five default/one shop/four');
  world.write({ 'probelet.yaml': 'targets: []\n' });
  await world.shows('default/by-hand');
});

/** Every place where a writer may stop for a while. */
test('half a file takes nothing away, wherever it is cut', async (t) => {
  const names = ['one', 'two', 'three'];
  const document = (name: string) => `${target(name)}  livenessProbe: { tcpSocket: { port: 9 }, periodSeconds: 1 }\n`;
  const whole = names.map(document).join('---\n');
  const world = worldWith(t, { 'probelet.yaml': 'targets: [a.yaml]\n', 'a.yaml': whole });
  await world.shows('default/one default/three default/two');
  const uids = async () => (await world.items()).map(({ metadata }) => metadata.uid).sort();
  /** Of each target. */
  const probes = async () =>
    (await world.items())
      .filter(isKept)
      .map((item) => JSON.stringify(item.spec).match(/(liveness|readiness)Probe"/g)?.length);
  const before = await uids();
  for (let cut = whole.length - 1; cut > 0; cut -= 7) {
    writeFileSync(join(world.folder, 'a.yaml'), whole.slice(0, cut));
    await sleep(systemClock, 25);
    if (cut % 5 === 0) writeFileSync(join(world.folder, 'a.yaml'), whole);
  }
  writeFileSync(join(world.folder, 'a.yaml'), whole.slice(0, whole.indexOf('  livenessProbe')));
  await sleep(systemClock, 1_000);
  assert.deepEqual(await uids(), before);
  assert.deepEqual(await probes(), [2, 2, 2]);
  await world.logs('info', /less than before/);
  await world.shows('default/one');
  assert.deepEqual(await probes(), [1], 'at rest it counts');
});

test('a target that moves from one file to another stays', async (t) => {
  const files = { 'a.yaml': `${target('one')}---\n${target('two')}`, 'b.yaml': target('three') };
  const world = worldWith(t, { 'probelet.yaml': 'targets: [a.yaml, b.yaml]\n', ...files });
  await world.shows('default/one default/three default/two');
  const uidOf = async (name: string) =>
    (await world.items()).find(({ metadata }) => metadata.name === name)?.metadata.uid;
  const uid = await uidOf('two');
  world.write({ 'a.yaml': target('one'), 'b.yaml': `${target('three')}---\n${target('two')}` });
  await world.logs('info', /less than before/);
  await until('the other file has it', { withinMs: 15_000, pollMs: 50 }, async () =>
    (await world.items()).some(
      ({ metadata }) => metadata.name === 'two' && metadata.annotations['probelet.dev/config-file'] === 'b.yaml',
    ),
  );
  await world.logs('info', /file of targets applied.*"file":"a\.yaml","targets":1/);
  assert.equal(await uidOf('two'), uid);
});

test('a target that a client has made its own is not removed', async (t) => {
  const world = worldWith(t, { 'probelet.yaml': 'targets: [a.yaml]\n', 'a.yaml': target('one') });
  await world.shows('default/one');
  await askApi(world.runtime, 'PUT', targetPath('one'), { spec });
  world.write({ 'a.yaml': target('two') });
  await world.shows('default/one default/two');
});

test('what the API refuses is named with its place, and of two files the first has a target', async (t) => {
  const files = {
    'probelet.yaml': 'targets: ["*.target"]\n',
    'a.target': target('one'),
    'b.target': `${target('two')}---\n${target('one')}---\n${target('three')}`,
  };
  const world = worldWith(t, files, { targetsMax: 2 });
  const [twice, beyond] = [await world.logs('error', /a\.target has/), await world.logs('error', /targetsMax is 2/)];
  assert.deepEqual([twice.fields?.file, twice.fields?.line], ['b.target', 6]);
  assert.deepEqual([beyond.fields?.file, beyond.fields?.line], ['b.target', 11]);
  await world.shows('default/one default/two');
});

test('a mount that replaces all files by one symbolic link is followed', async (t) => {
  const folder = temporaryFolder(t);
  const world = worldWith(t, { 'probelet.yaml': `targets: ["${folder}/*.yaml"]\n` });
  written(folder, { '..v1/a.yaml': target('one'), '..v2/a.yaml': target('two') });
  symlinkSync('..v1', join(folder, '..data'));
  symlinkSync('..data/a.yaml', join(folder, 'a.yaml'));
  await world.shows('default/one');
  symlinkSync('..v2', join(folder, '..new'));
  renameSync(join(folder, '..new'), join(folder, '..data'));
  await world.shows('default/two');
});

test('alerts are read again, and a wrong version changes nothing', async (t) => {
  const arrived: string[] = [];
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    const { kind, alert } = JSON.parse(body).data;
    arrived.push(`${request.url} ${kind} ${alert}`);
    response.end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => server.close());
  const { port } = server.address() as AddressInfo;
  const alerts = (name: string, path: string) =>
    `targets: [a.yaml]\nalerts: [{ name: ${name}, notify: [r] }]\nreceivers: [{ name: r, webhook: { url: "http://127.0.0.1:${port}/${path}" } }]\n`;
  const world = worldWith(t, { 'probelet.yaml': 'targets: [a.yaml]\n', 'a.yaml': target('one') });
  await world.shows('default/one');
  world.write({ 'probelet.yaml': alerts('first', 'x').replace('notify', 'ntify') });
  const { fields } = await world.logs('error', /did you mean notify/);
  assert.match(
    String(fields?.why),
    /probelet\.yaml:2:25: alerts\[0\]: there is no field ntify \(did you mean notify\?\)$/,
  );
  const has = (line: string) =>
    until(
      () => `${line} arrives, but ${arrived}`,
      { withinMs: 15_000, pollMs: 50 },
      async () => arrived.includes(line),
    );
  world.write({ 'probelet.yaml': alerts('first', 'old') });
  await has('/old firing first');
  world.write({ 'probelet.yaml': alerts('second', 'new') });
  await has('/new resolved first');
  await has('/new firing second');
});

test('a configuration that others may change is warned of, each time that it is read', async (t) => {
  const world = worldWith(t, { 'probelet.yaml': 'targets: []\n' });
  const warnings = () => world.log.lines.filter(({ message }) => /others can change .*chmod go-w/.test(message)).length;
  world.write({ 'probelet.yaml': 'targets: [a.yaml]\n', 'a.yaml': target('one') });
  await world.shows('default/one');
  assert.equal(warnings(), 0);
  for (const count of [1, 2]) {
    writeFileSync(join(world.folder, 'probelet.yaml'), `targets: [a.yaml] # ${count}\n`);
    chmodSync(join(world.folder, 'probelet.yaml'), 0o662);
    await until('it is warned of', { withinMs: 15_000, pollMs: 50 }, async () => warnings() === count);
  }
});

test('a configuration of another user is warned of, who may change it', async (t) => {
  if (process.getuid?.() !== 0) return t.diagnostic('only the superuser can make one');
  const world = worldWith(t, { 'probelet.yaml': 'targets: []\n' });
  const [foreign, own] = [/others can change .*make it yours with chown/, /others can change/];
  const lines = (said: RegExp) => world.log.lines.filter(({ message }) => said.test(message)).length;
  const path = join(world.folder, 'probelet.yaml');
  chownSync(path, 0, 65_534);
  world.write({ 'probelet.yaml': 'targets: [a.yaml]\n', 'a.yaml': target('one') });
  await world.shows('default/one');
  assert.equal(lines(own), 0);
  chownSync(path, 65_534, 0);
  writeFileSync(path, 'targets: [a.yaml] # again\n');
  await until('it is warned of', { withinMs: 15_000, pollMs: 50 }, async () => lines(foreign) === 1);
});

test('a configuration of the superuser is no foreign one', (t) => {
  if (process.getuid?.() !== 0) return t.diagnostic('only the superuser can make one');
  const { getuid } = process;
  t.after(() => {
    process.getuid = getuid;
  });
  const path = join(temporaryFolder(t), 'probelet.yaml');
  writeFileSync(path, 'targets: []\n', { mode: 0o644 });
  const warningFor = (uid: number) => {
    process.getuid = () => uid;
    return readConfigFile(path).warning;
  };
  assert.deepEqual([0, 1_000].map(warningFor), [undefined, undefined]);
  chownSync(path, 1_000, 0);
  assert.match(warningFor(1_001) ?? '', /make it yours/);
  assert.equal(warningFor(1_000), undefined);
});

test('SIGHUP registers every target again', async (t) => {
  const folder = temporaryFolder(t);
  written(folder, { 'probelet.yaml': 'targets: [a.yaml]\n', 'a.yaml': target('one') });
  const given = ['--port', '0', '--data-dir', ':memory:', '--config', join(folder, 'probelet.yaml')];
  const product = await startProduct(given);
  t.after(() => product.stop());
  const status = async () => (await askApi(product.url, 'GET', targetPath('one'))).status;
  const isThere = () =>
    until('the target is there', { withinMs: 15_000, pollMs: 50 }, async () => (await status()) === 200);
  await isThere();
  await askApi(product.url, 'DELETE', `${targetPath('one')}?gracePeriodSeconds=0`);
  await until('the target is gone', { withinMs: 15_000, pollMs: 50 }, async () => (await status()) === 404);
  product.child.kill('SIGHUP');
  await isThere();
});

test('a client that changes or deletes a target of a file is warned that the file has it', async (t) => {
  const world = worldWith(t, { 'probelet.yaml': 'targets: [a.yaml]\n', 'a.yaml': target('one') });
  await world.shows('default/one');
  await register(world.runtime, 'by-hand', spec);
  const managed = /^299 - "a\.yaml of the configuration has this target and will register it again/;
  const warningOf = async (method: string, name: string, body?: object) =>
    (await askApi(world.runtime, method, `${targetPath(name)}?dryRun=true`, body)).warning ?? '';
  for (const [name, isManaged] of [
    ['one', true],
    ['by-hand', false],
  ] as const) {
    assert.equal(managed.test(await warningOf('PUT', name, { spec })), isManaged);
    assert.equal(managed.test(await warningOf('PATCH', name, { metadata: { labels: { a: 'b' } } })), isManaged);
    assert.equal(managed.test(await warningOf('DELETE', name)), isManaged);
  }
  type Applied = { readonly items: readonly { readonly warning?: string }[] };
  const items = [{ apiVersion: 'probelet.dev/v1', kind: 'Target', metadata: { name: 'one' }, spec }];
  const list = { apiVersion: 'v1', kind: 'List', items };
  const { body } = await askApi<Applied>(world.runtime, 'PUT', '/v1/namespaces/default/targets?dryRun=true', list);
  assert.match(body.items[0]?.warning ?? '', /^a\.yaml of the configuration has this target/);
});

const gatus = (...lines: readonly string[]): string => `endpoints:\n${lines.map((line) => `  - ${line}\n`).join('')}`;
const watched = '{ name: watched, url: "tcp://127.0.0.1:9", conditions: ["[CONNECTED] == true"] }';
const turned = '{ name: turned, url: "http://127.0.0.1:9/", conditions: ["404 == [STATUS]"] }';
const pinged = '{ name: pinged, url: "icmp://127.0.0.1", conditions: ["[CONNECTED] == true"] }';

test('what no probe can ask is named once a load, and counted where it is looked for', async (t) => {
  const world = worldWith(t, {
    'probelet.yaml': 'targets: [gatus.yaml, compose.yaml]\n',
    'gatus.yaml': gatus(watched, turned, pinged),
    'compose.yaml': 'services: { web: { image: a } }\n',
  });
  const warnings = () =>
    world.log.lines.filter(({ level, message }) => level === 'warn' && /^not monitored/.test(message));
  const health = async (): Promise<{ readonly status?: string; readonly notMonitored?: number }> =>
    JSON.parse((await askApi(world.runtime, 'GET', '/healthz')).text);
  const gauge = async () => {
    const text = await (await world.runtime.fetch(new Request('http://127.0.0.1/metrics'))).text();
    return /^probelet_config_entries_not_monitored (\d+)$/m.exec(text)?.[1];
  };
  await world.shows('default/watched');
  await world.logs('info', /file of targets applied.*gatus.*"targets":1.*"notMonitored":2/);
  await until(
    'all files are counted',
    { withinMs: 15_000, pollMs: 50 },
    async () => (await health()).notMonitored === 3,
  );
  assert.deepEqual(
    warnings().map(({ fields }) => [fields?.file, fields?.line, fields?.what]),
    [
      ['compose.yaml', 1, 'service web'],
      ['gatus.yaml', 3, 'endpoint turned: 404 == [STATUS]:'],
      ['gatus.yaml', 4, 'endpoint pinged'],
    ],
  );
  assert.equal((await health()).status, 'ok');
  assert.equal(await gauge(), '3');

  world.write({ 'gatus.yaml': gatus(watched, pinged) });
  await until('one is gone', { withinMs: 15_000, pollMs: 50 }, async () => (await health()).notMonitored === 2);
  assert.equal(await gauge(), '2');
  assert.equal(warnings().length, 4);
});

test('without a configuration nothing is said of what is not monitored', async (t) => {
  const runtime = startRuntime(
    { dataDir: ':memory:' },
    { clock: systemClock, random: systemRandom, log: recordingLog(), wayOut },
  );
  t.after(() => runtime.stop());
  assert.equal('notMonitored' in (await askApi(runtime, 'GET', '/healthz')).body, false);
});

test('a Service of a file is called by its name in the namespace of its entry', async (t) => {
  const world = worldWith(t, {
    'probelet.yaml': 'targets: [{ files: [release.yaml], namespace: shop }]\n',
    'release.yaml': webRelease,
  });
  await world.shows('shop/web');
  assert.equal((await world.items())[0]?.spec.host, 'web.shop.svc.cluster.local');
});
