/** `probelet doctor`: what it finds of servers, credentials, clocks, data folders, DNS and canaries. */
import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { dataFolderFinding } from '../../../functions/cli/diagnosis/data-folder.ts';
import { bounded, ok } from '../../../functions/cli/diagnosis/finding.ts';
import { canariesFinding, descriptorsFinding, dnsFinding } from '../../../functions/cli/diagnosis/machine.ts';
import { clockFinding, releaseFinding } from '../../../functions/cli/diagnosis/server.ts';
import { productVersion } from '../../../functions/product-version.ts';
import { systemClock } from '../../../shared/lib/clock.ts';
import { startDnsServer } from '../../support/dns-server.ts';
import { freePort } from '../../support/free-port.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { foreignServer, runnerOf, servedWorld, testToken } from './served.ts';

const { run, world } = await servedWorld({ token: testToken });
const folder = temporaryFolder();
const tokenFile = join(folder, 'token');
writeFileSync(tokenFile, testToken);

type Checked = { readonly name: string; readonly state: string; readonly why: string; readonly next?: string };

/** Without what this machine's own network makes of it. */
async function checked(doctor: typeof run, ...args: readonly string[]) {
  const { code, out, err } = await doctor(['doctor', '-o', 'json', ...args], { clock: systemClock });
  assert.deepEqual(err, []);
  const { checks }: { readonly checks: readonly Checked[] } = JSON.parse(out);
  assert.equal(code, checks.some(({ state }) => state === 'fail') ? 1 : 0);
  return Object.fromEntries(checks.map(({ name, state, why, next }) => [name, [state, why, next ?? ''].join('|')]));
}

describe('doctor', () => {
  test('has a line for each check, and changes nothing', async () => {
    const data = join(folder, 'data');
    mkdirSync(data, { mode: 0o700 });
    const { out } = await run(['doctor', '--token-file', tokenFile, '--data-dir', data], { clock: systemClock });
    const lines = out.trimEnd().split('\n');
    assert.deepEqual(lines.slice(0, 5), [
      'ok     server        URL is healthy',
      'ok     credentials   the token is accepted',
      'ok     clock         that of the server, which is on this machine',
      `ok     versions      probelet ${productVersion}, Node ${process.versions.node}, API 1`,
      'ok     release       0 shards',
    ]);
    const names = ['data folder', 'descriptors', 'DNS', 'canaries'];
    for (const [at, name] of names.entries())
      assert.match(lines[at + 5] ?? '', new RegExp(`^(ok|warn|fail) +${name} +\\S.*$`));
    assert.equal(lines.length, 9);
    assert.deepEqual(readdirSync(data), []);
  });

  test('tells a server that is down from one that refuses the token', async () => {
    const down = await checked(runnerOf(`http://127.0.0.1:${await freePort()}`, world));
    assert.match(down.server ?? '', /^fail\|cannot reach URL \(ECONNREFUSED\)\|start it with /);
    assert.match(down.credentials ?? '', /^warn\|not known, because the server does not answer\|/);
    const refused = await checked(run);
    assert.equal(refused.server, 'ok|URL is healthy|');
    assert.equal(refused.credentials, 'fail|URL requires a token|give its file by --token-file');
  });

  test('finds a configuration that is wrong', async () => {
    const { server = '' } = await checked(run, '--context', 'gone');
    assert.match(server, /^fail\|there is no context gone\|choose one of/);
    const { server: unreadable = '' } = await checked(run, '--token-file', join(folder, 'none'));
    assert.match(unreadable, /^fail\|--token-file: .* cannot be read \(ENOENT\)\|name the file/);
    assert.equal((await run(['doctor', '--canary', 'nonsense'])).code, 2);
  });

  test('finds a clock that differs from that of the server, and a server that is degraded', async () => {
    const url = await foreignServer((request, response) => {
      const date = new Date(Date.now() - 30_000).toUTCString();
      const body = request.url === '/healthz' ? { status: 'degraded' } : { info: { title: 'probelet', version: '2' } };
      response.writeHead(200, { 'content-type': 'application/json', date }).end(JSON.stringify(body));
    });
    const found = await checked(runnerOf(url, world));
    assert.equal(found.server, 'warn|URL says degraded|read /healthz and its log');
    assert.match(found.clock ?? '', /^warn\|(29|30) s ahead of the server\|synchronise/);
    assert.match(found.versions ?? '', /^warn\|.*, API 2; this program knows API 1\|upgrade the older one$/);
  });
});

test('clocks agree within the second that a Date is cut to', () => {
  const at = (skewMs: number, isHere = false) => clockFinding(1_000_000, 1_000_500 + skewMs, isHere);
  assert.deepEqual(at(0), ok('agrees with the server'));
  assert.deepEqual(at(-3_400), ok('agrees with the server'));
  assert.deepEqual([at(3_600).state, at(3_600).why], ['warn', '4 s ahead of the server']);
  assert.deepEqual([at(-300_000).state, at(-300_000).why], ['fail', '300 s behind the server']);
  assert.equal(clockFinding(Number.NaN, 0, false).state, 'warn');
});

test('a data folder has to be there or be possible, be a folder, and be closed to others', async () => {
  const place = (name: string) => join(folder, name);
  assert.equal((await dataFolderFinding(':memory:')).state, 'ok');
  assert.match((await dataFolderFinding(place('new/deep'))).why, /new\/deep \(not there yet\): \d+ MiB free$/);
  writeFileSync(place('file'), '');
  assert.match((await dataFolderFinding(place('file'))).why, /file is not a folder$/);
  mkdirSync(place('open'));
  chmodSync(place('open'), 0o777);
  assert.deepEqual(await dataFolderFinding(place('open')), {
    state: 'fail',
    why: `others may write ${place('open')}`,
    next: `choose another folder, or close this one with chmod 700 ${place('open')}`,
  });
  mkdirSync(place('linked'), { mode: 0o700 });
  symlinkSync(place('file'), place('linked/probelet.sqlite'));
  assert.match((await dataFolderFinding(place('linked'))).why, /probelet\.sqlite is not a plain file$/);
});

test('descriptors are enough for all probes from 1,024 on', () => {
  assert.deepEqual(descriptorsFinding(1_024), ok('1024: 700 probes at once, 236 connections to the API'));
  const { state, next } = descriptorsFinding(256);
  assert.deepEqual([state, next], ['warn', 'raise the limit by ulimit -n 4096, or LimitNOFILE=4096 of a service']);
});

describe('DNS servers', async () => {
  const answering = await startDnsServer(() => undefined);
  const silent = await startDnsServer(() => ({ kind: 'silence' }));
  after(() => Promise.all([answering.close(), silent.close()]));

  test('that say that a name does not exist do answer', async () => {
    assert.deepEqual(await dnsFinding([answering.address], undefined), ok(`${answering.address} answered`));
    assert.match(answering.questions.join(), /probelet-doctor\.invalid A/);
    await dnsFinding([answering.address], 'api.example.com');
    assert.match(answering.questions.join(), /api\.example\.com A/);
  });

  test('that are silent are a warning as long as another answers', async () => {
    const some = await dnsFinding([answering.address, silent.address], undefined);
    assert.equal(some.state, 'warn');
    assert.equal(some.why, `no answer about probelet-doctor.invalid from ${silent.address} (i/o timeout)`);
    assert.equal((await dnsFinding([silent.address], undefined)).state, 'fail');
  });
});

test('canaries are what answers a dial', async () => {
  const listener = createServer((socket) => socket.destroy());
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
  after(() => listener.close());
  const address = listener.address();
  const there = { host: '127.0.0.1', port: typeof address === 'object' ? (address?.port ?? 0) : 0 };
  const gone = { host: '127.0.0.1', port: await freePort() };
  assert.equal((await canariesFinding({ list: [there], isNamed: true })).state, 'ok');
  assert.equal((await canariesFinding({ list: [there, gone], isNamed: true })).state, 'warn');
  assert.equal((await canariesFinding({ list: [gone], isNamed: true })).state, 'fail');
  assert.match((await canariesFinding({ list: [gone], isNamed: false })).why, /^no DNS server answers over TCP/);
  assert.equal((await canariesFinding({ list: [], isNamed: false })).state, 'warn');
});

test('a check that does not end fails in time', async () => {
  const hanging = { names: ['disk'], findings: () => new Promise<never>(() => undefined) };
  // The limit alone keeps no process alive.
  const alive = setInterval(() => undefined, 1_000);
  const [found] = await bounded(hanging, 20);
  clearInterval(alive);
  assert.deepEqual(found?.[0], 'disk');
  assert.match(found?.[1].why ?? '', /^did not end within 0\.02 s$/);
});

test('a release is that of all shards, or tried, or refused', () => {
  const shard = (name: string, release?: string) => ({
    ...{ shard: name, hashRange: `${name}-${name}`, mode: 'resident' as const, generation: 1 },
    ...(release !== undefined && { release }),
  });
  const shards = [shard('00', 'r2'), shard('80', 'r1'), { ...shard('c0'), mode: 'idle' as const }];
  const found = (release: Parameters<typeof releaseFinding>[0] & object) => {
    const { state, why } = releaseFinding(release);
    return [state, why];
  };
  assert.deepEqual(found({ release: {}, shards }), ['ok', '2 shards']);
  assert.deepEqual(found({ release: { desired: 'r2' }, shards: shards.slice(0, 1) }), ['ok', '1 shard by release r2']);
  assert.deepEqual(found({ release: { desired: 'r2' }, shards }), [
    'warn',
    '1 of 2 shards have not moved to release r2',
  ]);
  const trial = { shard: '00', since: '2030-01-01T00:00:00.000Z' };
  assert.deepEqual(found({ release: { desired: 'r2', trial }, shards }), [
    'warn',
    'release r2 is tried by shard 00 since 2030-01-01T00:00:00.000Z',
  ]);
  assert.deepEqual(found({ release: { refused: 'r2' }, shards }), [
    'fail',
    'release r2 was refused: no run of it has probed',
  ]);
  assert.equal(releaseFinding(undefined).state, 'ok');
});
