/** What the client of the API makes of servers that are down, slow, wrong or shut. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { apiServer } from '../../../functions/local/server/api-server.ts';
import { apiWorld } from '../../api/world.ts';
import { freePort } from '../../support/free-port.ts';
import { recordingLog } from '../../support/recording-log.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { foreignServer, runnerOf, servedWorld, testToken } from './served.ts';

const world = apiWorld();
const get = ['get', 'targets'];
const json = { 'content-type': 'application/json' };

describe('a server', () => {
  test('that is down is named, with the command that starts it', async () => {
    const url = `http://127.0.0.1:${await freePort()}`;
    const { code, out, err } = await runnerOf(url, world)(get);
    assert.deepEqual([code, out], [1, '']);
    assert.deepEqual(err, [
      "error: cannot reach URL (ECONNREFUSED): start it with 'probelet start', or name another with --server URL",
    ]);
  });

  test('that does not answer is given up after the time-out', async () => {
    const url = await foreignServer(() => undefined);
    const { code, err } = await runnerOf(url, world)([...get, '--request-timeout', '50ms']);
    assert.equal(code, 1);
    assert.deepEqual(err, [
      'error: URL did not answer within 0.05 s: look at its log, or allow more with --request-timeout',
    ]);
  });

  test('that is another program is no API', async () => {
    for (const [status, headers, body, what] of [
      [200, { 'content-type': 'text/html' }, '<html>', 'is text/html'],
      [404, { 'content-type': 'text/html' }, '<html>', 'has the status 404 and is text/html'],
      [502, { 'content-type': 'text/html' }, '<html>', 'has the status 502 and is text/html'],
      [200, {}, '', 'is of no type'],
      [200, json, '{', 'is application/json'],
      [200, json, '{"items":{}}', 'lacks metadata'],
      [200, json, '{"metadata":{},"items":[{}]}', 'lacks items.0.metadata'],
    ] as const) {
      const url = await foreignServer((_, response) => response.writeHead(status, headers).end(body));
      const { code, out, err } = await runnerOf(url, world)(get);
      assert.deepEqual([code, out], [1, '']);
      assert.deepEqual(err, [`error: URL is not probelet's API (the answer ${what}): correct the address or proxy`]);
    }
    const url = await foreignServer((_, response) => response.writeHead(404, json).end('{}'));
    const { code } = await runnerOf(url, world)(['get', 'target', 'a']);
    assert.equal(code, 1, 'the 404 of another program does not say that there is no such target');
  });

  test('that answers with too much is not read to the end', async () => {
    const piece = Buffer.alloc(1024 * 1024, ' ');
    const url = await foreignServer((_, response) => {
      response.writeHead(200, json).on('error', () => undefined);
      const more = () => {
        while (response.write(piece));
      };
      response.on('drain', more);
      more();
    });
    assert.match((await runnerOf(url, world)(get)).err[0] ?? '', /has more than 16777216 bytes/);
  });

  test('that breaks the connection or restarts is asked again, at most three times', async () => {
    let asked = 0;
    const answers = (times: number) =>
      foreignServer((_, response) => {
        asked += 1;
        if (asked > times) response.writeHead(200, json).end('{"metadata":{},"items":[]}');
        else if (asked % 2 === 1) response.destroy();
        else response.writeHead(503, json).end('{"detail":"restarts"}');
      });
    assert.equal((await runnerOf(await answers(2), world)(get)).code, 0);
    assert.equal(asked, 3);
    asked = 0;
    assert.match((await runnerOf(await answers(9), world)(get)).err[0] ?? '', /cannot reach URL/);
    assert.equal(asked, 3);
  });
});

describe('a token', async () => {
  const { run } = await servedWorld({ token: testToken });
  const folder = temporaryFolder();
  const fileOf = (name: string, content: string) => {
    writeFileSync(join(folder, name), content);
    return join(folder, name);
  };

  test('that is missing or wrong is asked for', async () => {
    assert.deepEqual(await run(get), {
      code: 1,
      out: '',
      err: ['error: URL requires a token: give its file by --token-file'],
    });
    assert.deepEqual((await run([...get, '--token-file', fileOf('wrong', 'another')])).err, [
      'error: URL refuses the token: give the file that the server was started with by --token-file',
    ]);
  });

  test('is taken from an option or the environment', async () => {
    const file = fileOf('right', `${testToken}\n`);
    for (const [args, env] of [
      [['--token-file', file], {}],
      [[], { PROBELET_TOKEN: testToken }],
      [[], { PROBELET_TOKEN_FILE: file }],
      [['--token-file', file], { PROBELET_TOKEN: 'wrong' }],
    ] as const)
      assert.equal((await run([...get, ...args], { env })).code, 0);
  });

  test('that cannot be read is an error that does not show it', async () => {
    const none = join(folder, 'none');
    assert.deepEqual((await run([...get, '--token-file', none])).err, [
      `error: --token-file: ${none} cannot be read (ENOENT); name the file with the token`,
    ]);
    assert.deepEqual((await run([...get, '--token-file', fileOf('two', 'two\nlines')])).err, [
      'error: --token-file: the token must be one word of printable ASCII characters',
    ]);
  });
});

test('a proxy is asked as the environment says, but not for this machine', async () => {
  const asked: string[] = [];
  const proxy = await foreignServer((request, response) => {
    asked.push(request.url ?? '');
    response.writeHead(200, json).end('{"metadata":{},"items":[]}');
  });
  const { run } = await servedWorld();
  assert.equal((await run(get, { env: { HTTP_PROXY: proxy } })).code, 0);
  assert.deepEqual(asked, []);
  const elsewhere = [...get, '--server', 'http://probelet.test'];
  assert.equal((await run(elsewhere, { env: { HTTP_PROXY: proxy } })).code, 0);
  assert.match(asked[0] ?? '', /^http:\/\/probelet\.test\/v1\/namespaces\/default\/targets\?/);
  const env = { HTTP_PROXY: proxy, NO_PROXY: 'probelet.test' };
  assert.match((await run(elsewhere, { env })).err[0] ?? '', /cannot reach http:\/\/probelet\.test/);
});

test('a Unix socket is a server, too', async () => {
  const path = join(temporaryFolder(), 'api.sock');
  const fetch = (request: Request) => world.app.fetch(request);
  const server = apiServer(fetch, { hostname: 'localhost', connectionsMax: 10, log: recordingLog() });
  after(() => server.close());
  await new Promise<void>((listening) => server.listen(path, listening));
  assert.deepEqual((await runnerOf('', world)([...get, '--server', `unix:${path}`])).err, [
    'No targets found in namespace default.',
  ]);
});
