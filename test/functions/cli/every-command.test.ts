/** Every command that asks a server says in one line what is wrong with it, where, and what to do; never a stack. */
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, test } from 'node:test';
import { freePort } from '../../support/free-port.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { ranCli } from './run.ts';
import { foreignServer } from './served.ts';

const folder = temporaryFolder();
const manifest = join(folder, 'a.yaml');
writeFileSync(manifest, 'metadata: { name: a }\nspec: { host: h, readinessProbe: { tcpSocket: { port: 1 } } }\n');
const brokenConfig = join(folder, 'probelet', 'config.yaml');
mkdirSync(join(folder, 'probelet'));
writeFileSync(brokenConfig, 'contexts: [');

/** By command, arguments that make it ask the server. */
const callsOf: { readonly [command: string]: readonly (readonly string[])[] } = {
  apply: [['-f', manifest]],
  delete: [['target/a'], ['targets', '-l', 'a=b'], ['-f', manifest]],
  describe: [['target', 'a']],
  diff: [['-f', manifest]],
  // It reports on the server in a table: see doctor.test.ts.
  doctor: [],
  edit: [['target/a']],
  events: [[], ['-w']],
  get: [['targets'], ['target/a', '-o', 'json'], ['probes', '-A', '-w'], ['events']],
  probe: [['target/a']],
  simulate: [['--target', 'a']],
  version: [[]],
  wait: [['--for=condition=Ready', 'target/a', '--timeout', '1s']],
};

const html = { 'content-type': 'text/html' };
const servers: { readonly [what: string]: () => Promise<string> } = {
  'is down': async () => `http://127.0.0.1:${await freePort()}`,
  'never answers': () => foreignServer(() => undefined),
  'is a page': () => foreignServer((_, response) => response.writeHead(200, html).end('<html>')),
  'is a proxy without a server': () => foreignServer((_, response) => response.writeHead(502, html).end('<html>')),
  'refuses the token': () =>
    foreignServer((_, response) =>
      response
        .writeHead(401, { 'content-type': 'application/problem+json' })
        .end('{"type":"urn:probelet:problem:unauthorized","detail":"no"}'),
    ),
};

const lists: string[] = [];
before(async () => {
  const listed = (await ranCli(['--help'])).out.split(/^Commands:$/m)[1] ?? '';
  for (const [, name = ''] of listed.matchAll(/^ {2}([a-z]+)/gm))
    if (name !== 'start' && /^ +--server </m.test((await ranCli([name, '--help'])).out)) lists.push(name);
});

test('every command that takes --server is tried here', () =>
  assert.deepEqual(lists.toSorted(), Object.keys(callsOf).toSorted()));

const env = { HOME: folder, EDITOR: 'true' };

for (const [what, start] of Object.entries(servers))
  describe(`a server that ${what}`, () => {
    for (const [command, calls] of Object.entries(callsOf))
      for (const args of calls)
        test(`is one line of ${[command, ...args].join(' ').replace(`${folder}/`, '')}`, async () => {
          const url = await start();
          const { code, err } = await ranCli([command, ...args, '--server', url, '--request-timeout', '50ms'], { env });
          const text = err.join('\n');
          // For diff, 1 says that something differs.
          assert.equal(code, command === 'diff' ? 5 : 1, text);
          assert.equal(err.length, 1, text);
          assert.match(text, /^error: /);
          assert.ok(text.includes(url), text);
          assert.match(text, /: (start|look|correct|give|name)\b/, text);
        });
  });

describe('a context that is gone and a configuration that cannot be read', () => {
  for (const [command, [args]] of Object.entries(callsOf))
    test(`are one line of ${command}`, async () => {
      if (!args) return;
      const failing = command === 'diff' ? 5 : 1;
      const gone = await ranCli([command, ...args, '--context', 'gone'], { env });
      assert.deepEqual([gone.code, gone.err.length], [failing, 1], gone.err.join('\n'));
      assert.match(gone.err[0] ?? '', /^error: .*gone/);
      const broken = await ranCli([command, ...args], { env: { ...env, XDG_CONFIG_HOME: folder } });
      assert.deepEqual([broken.code, broken.err.length], [failing, 1], broken.err.join('\n'));
      assert.ok(broken.err[0]?.startsWith(`error: ${brokenConfig}`), broken.err[0]);
    });
});
