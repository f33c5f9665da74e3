/**
 * What a web page can send to a process without a token, after DNS rebinding or not, and what a program of the machine
 * can.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { type IncomingMessage, request } from 'node:http';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { after, before, describe, test } from 'node:test';
import { until } from '../../support/wait.ts';
import { isHealthy, type Product, startProduct } from '../product.ts';

const token = 'a-token-of-sixteen-characters-or-more';
/** It listens before it holds its shard. */
const healthyMsMax = 10_000;
const methods = ['GET', 'HEAD', 'PUT', 'POST', 'PATCH', 'DELETE', 'OPTIONS'];

/** Where `npm start` with these options listens, from before the first test of the suite until after the last. */
function served(options: (folder: string) => readonly string[]) {
  const folder = mkdtempSync(join(tmpdir(), 'probelet-'));
  let product: Product | undefined;
  before(async () => {
    const started = await startProduct(['--port', '0', '--data-dir', join(folder, 'data'), ...options(folder)]);
    product = started;
    await until('it is healthy', healthyMsMax, () => isHealthy(`http://127.0.0.1:${started.port}`));
  });
  after(async () => {
    await product?.stop();
    rmSync(folder, { recursive: true });
  });
  return () => product?.port ?? 0;
}

/** By Node's client, as `fetch` sends no Host and no Origin of the caller's choice. */
async function ask(port: number, headers: Record<string, string>, method = 'GET', path = '/healthz') {
  const asked = request({ host: '127.0.0.1', port, method, path, headers }).end();
  const [response]: IncomingMessage[] = await once(asked, 'response');
  assert.ok(response);
  return { status: response.statusCode, headers: response.headers, body: await text(response) };
}

function askRaw(port: number, raw: string): Promise<string> {
  const socket = connect(port, '127.0.0.1', () => socket.write(raw));
  return text(socket);
}

describe('without a token', () => {
  const port = served(() => []);

  for (const name of ['127.0.0.1', '[::1]', 'localhost', 'LOCALHOST'])
    test(`a request to ${name} is served`, async () => {
      const { status, headers } = await ask(port(), { host: `${name}:${port()}` });
      assert.deepEqual([status, headers['x-content-type-options']], [200, 'nosniff']);
    });

  const foreign: Readonly<Record<string, (port: number) => Record<string, string>>> = {
    'another name': (at) => ({ host: `rebound.example:${at}` }),
    'another name without a port': () => ({ host: 'rebound.example' }),
    'no port': () => ({ host: 'localhost' }),
    'another port': (at) => ({ host: `localhost:${at + 1}` }),
    'a name below localhost': (at) => ({ host: `rebound.localhost:${at}` }),
    'a final dot': (at) => ({ host: `localhost.:${at}` }),
    'another address': (at) => ({ host: `127.0.0.2:${at}` }),
    'another spelling': (at) => ({ host: `2130706433:${at}` }),
    'user info': (at) => ({ host: `localhost:${at}@rebound.example` }),
    'a foreign origin': (at) => ({ host: `localhost:${at}`, origin: 'http://page.example' }),
    'the origin of another port': (at) => ({ host: `localhost:${at}`, origin: `http://localhost:${at + 1}` }),
    'an origin of HTTPS': (at) => ({ host: `localhost:${at}`, origin: `https://localhost:${at}` }),
    'the origin of a sandbox': (at) => ({ host: `localhost:${at}`, origin: 'null' }),
    'an image of another port of this machine': (at) => ({ host: `localhost:${at}`, 'sec-fetch-site': 'same-site' }),
    'a site that no browser names': (at) => ({ host: `localhost:${at}`, 'sec-fetch-site': 'elsewhere' }),
    'an image of another site': (at) => ({ host: `localhost:${at}`, 'sec-fetch-site': 'cross-site' }),
  };
  for (const [what, headers] of Object.entries(foreign))
    test(`${what} is refused, whatever the method and the path`, async () => {
      for (const method of methods)
        for (const path of ['/healthz', '/v1/targets', '/openapi.json', '/nothing']) {
          const { status, body } = await ask(port(), headers(port()), method, path);
          // What is no authority at all is refused before it is compared.
          assert.ok(status === 403 || (status === 400 && what === 'user info'), `${method} ${path}: ${status}`);
          if (status === 403 && method !== 'HEAD') assert.match(body, /urn:probelet:problem:foreign-caller/);
        }
    });

  test('a request to two names, or to one in the request line and another in Host, is refused', async () => {
    const own = `localhost:${port()}`;
    for (const [target, hosts] of [
      ['/healthz', [own, 'page.example']],
      ['/healthz', ['page.example', own]],
      [`http://page.example:${port()}/healthz`, [own]],
      [`http://${own}/healthz`, ['page.example']],
    ] as const) {
      const raw = `GET ${target} HTTP/1.1\r\n${hosts.map((host) => `Host: ${host}\r\n`).join('')}Connection: close\r\n\r\n`;
      const answer = await askRaw(port(), raw);
      assert.match(answer, /^HTTP\/1\.1 40[03] /, raw);
      assert.doesNotMatch(answer, /targets/, raw);
    }
  });

  test('no answer allows another origin or is sniffed', async () => {
    const own = { host: `localhost:${port()}`, origin: `http://localhost:${port()}` };
    for (const method of methods)
      for (const path of ['/healthz', '/v1/targets', '/nothing', '/v1/namespaces/a/targets/b'])
        for (const headers of [own, { ...own, origin: 'http://page.example' }]) {
          const { headers: received } = await ask(port(), headers, method, path);
          assert.equal(received['x-content-type-options'], 'nosniff', `${method} ${path}`);
          assert.equal(received['access-control-allow-origin'], undefined, `${method} ${path}`);
        }
  });

  test('a page of its own origin is served', async () => {
    const own = { host: `localhost:${port()}`, origin: `http://localhost:${port()}`, 'sec-fetch-site': 'same-origin' };
    assert.equal((await ask(port(), own)).status, 200);
  });
});

describe('with a token', () => {
  const port = served((folder) => {
    const file = join(folder, 'token');
    writeFileSync(file, token);
    return ['--token-file', file];
  });

  test('a client that has it is served under any name and origin', async () => {
    const elsewhere = { host: 'probelet.example', origin: 'http://page.example', 'sec-fetch-site': 'cross-site' };
    assert.equal((await ask(port(), elsewhere, 'GET', '/v1/targets')).status, 401);
    const { status } = await ask(port(), { ...elsewhere, authorization: `Bearer ${token}` }, 'GET', '/v1/targets');
    assert.equal(status, 200);
  });
});
