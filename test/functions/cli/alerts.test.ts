/** `probelet alerts test` with receivers that accept, refuse and do not listen. */
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { freePort } from '../../support/free-port.ts';
import { cliFiles } from './files.ts';

const { ran, fileOf } = cliFiles('alerts');

describe('alerts test', () => {
  const arrived: { readonly path: string; readonly body: string }[] = [];
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    arrived.push({ path: request.url ?? '', body });
    response.writeHead(request.url === '/refuses' ? 400 : 200);
    response.end(request.url === '/refuses' ? `invalid_blocks\n in ${JSON.parse(body).routing_key}` : 'ok');
  });
  let config = '';
  before(async () => {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const key = fileOf('key', 'k'.repeat(32));
    config = fileOf(
      'probelet.yaml',
      `receivers:
  - { name: chat, slack: { url: "${url}/chat" } }
  - { name: on-call, pagerduty: { routingKey: { file: "${key}" }, url: "${url}/refuses" } }
  - { name: away, webhook: { url: "http://127.0.0.1:${await freePort()}" } }
  - { name: unset, slack: { url: { env: PROBELET_TEST_NO_SUCH_VARIABLE } } }
`,
    );
  });
  after(() => server.close());

  test('prints what a receiver answered to the beginning and to the end', async () => {
    assert.deepEqual(await ran('test', '-f', config, '--receiver', 'chat'), {
      code: 0,
      out: 'chat: firing accepted: ok\nchat: resolved accepted: ok\n',
      err: [],
    });
    const texts = arrived.filter(({ path }) => path === '/chat').map(({ body }) => JSON.parse(body).text);
    assert.deepEqual(texts, [
      '🔴 test/test not ready: This is a test of probelet: nothing is wrong. (test)',
      '✅ Resolved after 1m: test/test not ready (test)',
    ]);
  });

  test('ends with 1 if a receiver refuses or does not listen, and shows no secret', async () => {
    const refused = await ran('test', '-f', config, '--receiver', 'on-call');
    assert.deepEqual(refused, {
      code: 1,
      out: 'on-call: firing refused, status 400: invalid_blocks  in ***\n',
      err: [],
    });
    const away = await ran('test', '-f', config, '--receiver', 'away');
    assert.deepEqual(away, { code: 1, out: 'away: firing failed, ECONNREFUSED\n', err: [] });
  });

  test('names a secret that is not set, and a receiver that is not there', async () => {
    const [unset] = (await ran('test', '-f', config)).err;
    assert.equal(
      unset,
      'error: probelet.yaml:5:5: receivers[3].slack.url: the variable PROBELET_TEST_NO_SUCH_VARIABLE is empty or not set',
    );
    assert.deepEqual(await ran('test', '-f', config, '--receiver', 'oncall'), {
      code: 4,
      out: '',
      err: ['error: probelet.yaml has no receiver oncall: did you mean on-call?'],
    });
    const none = fileOf('none.yaml', 'targets: []\n');
    assert.deepEqual((await ran('test', '-f', none)).err, ['error: none.yaml has no receivers']);
  });

  test('ends with 2 without a file', async () => {
    const { code, err } = await ran('test');
    assert.equal(code, 2);
    assert.match(err[0] ?? '', /required option '-f, --filename <file>' not specified/);
  });
});
