/** What a server, an address or a folder may do to the command line: repeat secrets, send without end, never answer. */
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { describe, test } from 'node:test';
import { printedStates } from '../../../functions/cli/server/selection.ts';
import { apiClient } from '../../../functions/client/api-client.ts';
import { ClientError, probeletClient } from '../../../package/client.ts';
import { targetViewSchema } from '../../../shared/api/schema/target-schema.ts';
import { systemRandom } from '../../../shared/lib/random.ts';
import { ordinaryValue } from '../../support/hostile-text.ts';
import { immediateClock } from '../../support/immediate-clock.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { type Ran, ranCli } from './run.ts';
import { foreignServer } from './served.ts';

const password = 'PASSW0RD-of-the-url';
const shown = ({ out, err }: Ran): string => out + err.join('\n');
const json = { 'content-type': 'application/json' };

describe('a password in a URL is not printed', () => {
  const url = `http://user:${password}@127.0.0.1:1`;
  const home = temporaryFolder();
  mkdirSync(join(home, '.config/probelet'), { recursive: true });
  writeFileSync(join(home, '.config/probelet/config.yaml'), JSON.stringify({ contexts: [{ name: 'a', server: url }] }));
  for (const [args, env] of [
    [['get', 'targets', '--server', url], {}],
    [['get', 'targets', '--server', `ftp://user:${password}@a`], {}],
    [['get', 'targets'], { PROBELET_URL: url }],
    [['get', 'targets', '--context', 'a'], {}],
    [['doctor'], { PROBELET_URL: url }],
    [['doctor', '-o', 'json', '--context', 'a'], {}],
    [['context', 'add', 'b', '--url', url], {}],
    [['lint', '-f', `${url}/a.yaml`], {}],
    [['get', 'targets', '--server', 'http://example.invalid'], { HTTP_PROXY: url }],
    [['get', 'targets', '--server', 'http://example.invalid'], { HTTP_PROXY: `user:${password}@a b` }],
  ] as const)
    test(`${args.join(' ').replaceAll(password, '…')} ${Object.keys(env).join()}`, async () => {
      const ran = await ranCli(args, { env: { HOME: home, ...env } });
      assert.doesNotMatch(shown(ran), /PASSW0RD/, shown(ran));
    });

  test('nor in the error of a client', async (t) => {
    const client = probeletClient({ url });
    t.after(() => client.close());
    await assert.rejects(client.health(), (error) => error instanceof ClientError && !error.message.includes(password));
  });
});

describe('a list without an end', () => {
  const target = ordinaryValue(targetViewSchema);
  const page = JSON.stringify({ metadata: { continue: 'more' }, items: new Array(100).fill(target) });
  const endless = async () => {
    const asked = { times: 0 };
    const url = await foreignServer((_, response) => {
      asked.times += 1;
      response.writeHead(200, json).end(page);
    });
    return { url: new URL(url), asked };
  };

  test('ends with the characters that a client takes', async (t) => {
    const { url, asked } = await endless();
    const options = { timeoutMs: 5_000, clock: immediateClock(), random: systemRandom, env: {} };
    const client = apiClient({ url, ...options, listCharactersMax: page.length * 5 });
    t.after(() => client.close());
    const list = async () => {
      for await (const _ of client.targets()) assert.ok(asked.times <= 7);
    };
    await assert.rejects(list, (error) => error instanceof ClientError && error.fault === 'large');
  });
});

describe('an answer without an end is left', { timeout: 60_000 }, () => {
  /** More than any answer that is taken, and what is under way. */
  const sentMax = 64 * 1024 * 1024;
  const answers: { readonly [what: string]: readonly [status: number, type: string, piece: string] } = {
    'a refusal': [422, 'application/problem+json', ' '],
    'a fault': [500, 'text/html', 'a'],
    'a page': [200, 'application/json', ' '],
    'an event': [200, 'text/event-stream', 'a'],
    'a line of an event': [200, 'text/event-stream', 'data: a\n'],
  };
  const manifests = (url: string) => ['lint', '-f', `${url}/a.yaml`];
  for (const [what, [status, type, piece]] of Object.entries(answers))
    for (const command of [
      ['get', 'targets'],
      ['get', 'targets', '-w'],
      ['events', 'a', '-w'],
      ['describe', 'target/a'],
      manifests,
    ])
      test(`${what}: ${typeof command === 'function' ? 'lint' : command.join(' ')}`, async () => {
        const chunk = Buffer.alloc(64 * 1024, piece);
        let sent = 0;
        function* pieces(): Generator<Buffer> {
          for (; sent < sentMax; sent += chunk.length) yield chunk;
        }
        const url = await foreignServer((_, response) => {
          response.writeHead(status, { 'content-type': type });
          // It ends early because the command leaves it.
          pipeline(pieces, response).catch(() => undefined);
        });
        const args = typeof command === 'function' ? command(url) : [...command, '--server', url];
        const { code, err } = await ranCli(args, { env: { HOME: temporaryFolder() } });
        assert.ok(sent < sentMax, `${sent} bytes`);
        assert.deepEqual([code, err.length], [1, 1], err.join('\n'));
      });
});

test('events beyond the limit are not taken', async (t) => {
  const events = Array.from({ length: 1_000 }, (_, index) => ({ time: `${index}`, reason: 'a' }));
  const url = await foreignServer((_, response) =>
    response.writeHead(200, json).end(JSON.stringify({ items: events })),
  );
  const client = probeletClient({ url });
  t.after(() => client.close());
  const taken = await client.events({ namespace: 'a', name: 'a' }, 20);
  assert.deepEqual(
    taken?.map(({ time }) => time),
    events.slice(-20).map(({ time }) => time),
  );
});

test('what a watch has printed is known of so many keys, the oldest of which are forgotten', () => {
  const isNew = printedStates(2);
  const asked = ['a 1', 'a 1', 'a 2', 'b 1', 'a 2', 'c 1', 'a 2', 'b 1'].map((text) => text.split(' '));
  assert.deepEqual(
    asked.map(([key = '', state = '']) => isNew(key, state)),
    [true, false, true, true, false, true, false, true],
  );
});

describe('a FIFO in a folder of manifests is refused, and does not wait for a writer', () => {
  const folder = temporaryFolder();
  execFileSync('mkfifo', [join(folder, 'a.yaml')]);
  const main = join(import.meta.dirname, '../../../functions/cli/main.ts');
  const server = ['--server', 'http://127.0.0.1:1'];
  for (const args of [
    ['lint'],
    ['convert'],
    ['cost'],
    ['simulate', 'S'],
    ['try'],
    ['apply', ...server],
    ['delete', ...server],
  ])
    test(args[0] ?? '', () => {
      // A process of its own, because one that waits in open(2) can do nothing else.
      const { status, stderr } = spawnSync(process.execPath, [main, ...args, '-f', folder], {
        encoding: 'utf8',
        timeout: 10_000,
      });
      assert.equal(status, 1, stderr);
      assert.match(stderr, /a\.yaml:1:1: is not a regular file/);
    });
});
