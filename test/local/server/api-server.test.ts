/**
 * What Node refuses before the API sees it, and clients that go away at any moment, through the server of `npm start`.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { after, before, describe, mock, test } from 'node:test';
import { startRuntime } from '../../../functions/local/process/runtime.ts';
import { type ApiServerOptions, apiServer } from '../../../functions/local/server/api-server.ts';
import { systemClock } from '../../../shared/lib/clock.ts';
import { systemRandom } from '../../../shared/lib/random.ts';
import { askApi } from '../../support/api-client.ts';
import { recordingLog } from '../../support/recording-log.ts';

const manifest = { spec: { host: '127.0.0.1', lifecycle: 'static' } };
const targets = '/v1/namespaces/default/targets';

/** The API on loopback, from before the first test of the suite until after the last. */
function served(timeouts?: ApiServerOptions['timeouts']) {
  const log = recordingLog();
  const runtime = startRuntime({ dataDir: ':memory:' }, { clock: systemClock, random: systemRandom, log });
  const options = { hostname: '127.0.0.1', connectionsMax: 100, log, ...(timeouts && { timeouts }) };
  const server = apiServer(runtime.fetch, options);
  before(async () => {
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
  });
  after(async () => {
    server.closeAllConnections();
    server.close();
    await runtime.stop();
  });
  const port = () => (server.address() as AddressInfo).port;
  return {
    log,
    url: () => `http://127.0.0.1:${port()}`,
    open: () => connect(port(), '127.0.0.1').on('error', () => {}),
  };
}

type Answer = { readonly status: number; readonly headers: Headers; readonly body: string };

/** An answer whose body ends with the connection or its Content-Length. */
function parsedAnswer(raw: string): Answer {
  const end = raw.indexOf('\r\n\r\n');
  assert.ok(end > 0, `no answer: ${JSON.stringify(raw.slice(0, 200))}`);
  const [line = '', ...fields] = raw.slice(0, end).split('\r\n');
  const headers = new Headers(
    fields.map((field): [string, string] => [field.replace(/:.*/, ''), field.replace(/[^:]*:/, '').trim()]),
  );
  const body = raw.slice(end + 4);
  assert.equal(headers.get('content-length'), String(Buffer.byteLength(body)), `Content-Length of ${line}`);
  return { status: Number(line.split(' ')[1]), headers, body };
}

describe('what Node refuses itself', () => {
  const shortMs = { headersTimeout: 100, requestTimeout: 100, connectionsCheckingInterval: 20 };
  const { log, open } = served();
  /** For what does not come: everything else has time, however busy the machine is. */
  const impatient = served({ ...shortMs, keepAliveTimeout: 5_000 });
  /** What the server says to this until it closes. */
  const said = (raw: string, connected = open) => {
    const socket = connected();
    socket.write(Buffer.from(raw, 'latin1'));
    return text(socket);
  };
  const get = (fields: string, path = '/healthz') => `GET ${path} HTTP/1.1\r\n${fields}\r\n`;
  const put = (fields: string, body: string) =>
    `PUT ${targets}/one HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n${fields}\r\n${body}`;
  const host = 'Host: 127.0.0.1\r\n';

  const refused: Readonly<Record<string, readonly [number, string]>> = {
    'a line that is no request': [400, 'no request\r\n\r\n'],
    'the start of TLS': [400, '\x16\x03\x01\x00\xa5\x01\x00\x00\xa1\x03\x03'],
    'HTTP/2 with prior knowledge': [400, 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
    'a version that is none': [400, 'GET /healthz HTTP/7.7\r\nHost: 127.0.0.1\r\n\r\n'],
    'a method that is none': [400, `GOT /healthz HTTP/1.1\r\n${host}\r\n`],
    'a field without a colon': [400, get(`${host}no colon\r\n`)],
    'a folded field': [400, get(`${host} folded\r\n`)],
    'a zero byte in a field': [400, get(`${host}X: a\0b\r\n`)],
    'a bare line feed': [400, get(`${host}X: a\nY: b\r\n`)],
    'no Host': [400, get('')],
    'two Hosts': [400, get(`${host}Host: example.com\r\n`)],
    'a Host that is none': [400, get('Host: a b\r\n')],
    'a path that is none': [400, get(host, '*')],
    'a backslash in the path': [400, get(host, '/v1\\targets')],
    'an absolute form that is none': [400, get(host, 'http://[')],
    'two lengths': [400, put('Content-Length: 3\r\nContent-Length: 4\r\n', '{}')],
    'a length that is none': [400, put('Content-Length: 1e3\r\n', '{}')],
    'a length beside chunks': [400, put('Content-Length: 3\r\nTransfer-Encoding: chunked\r\n', '0\r\n\r\n')],
    'a coding that is not known': [400, put('Transfer-Encoding: gzip\r\n', '{}')],
    'a chunk whose size is none': [400, put('Transfer-Encoding: chunked\r\n', 'zz\r\n')],
    'a chunk size beyond all numbers': [400, put('Transfer-Encoding: chunked\r\n', `${'f'.repeat(40)}\r\n`)],
    'extensions of chunks without end': [413, put('Transfer-Encoding: chunked\r\n', `1;${'a'.repeat(20_000)}\r\n`)],
    'a header without end': [431, get(`${host}X: ${'a'.repeat(20_000)}\r\n`)],
    'a thousand fields': [431, get(host + 'X-Field: something long\r\n'.repeat(1_000))],
    'an endless path': [431, get(host, `/${'a'.repeat(20_000)}`)],
    'an expectation': [417, put('Content-Length: 2\r\nExpect: a-miracle\r\n', '')],
    'a proxied connection': [405, 'CONNECT example.com:443 HTTP/1.1\r\nHost: example.com:443\r\n\r\n'],
    'a head that does not come': [408, 'GET /healthz HTTP/1.1\r\nHost: 127'],
    'a body that does not come': [408, put('Content-Length: 10\r\n', '{')],
    'chunks that do not come': [408, put('Transfer-Encoding: chunked\r\n', '1\r\n{\r\n')],
  };
  for (const [name, [status, raw]] of Object.entries(refused))
    test(`${name} is a problem document`, async () => {
      const answer = parsedAnswer(await said(raw, status === 408 ? impatient.open : open));
      const fields = ['content-type', 'x-content-type-options', 'connection'].map((field) => answer.headers.get(field));
      assert.deepEqual([answer.status, ...fields], [status, 'application/problem+json', 'nosniff', 'close']);
      const { type, title, status: named, detail } = JSON.parse(answer.body);
      assert.equal(named, status);
      assert.match(type, /^urn:probelet:problem:[a-z-]+$/);
      assert.ok(title.length > 0 && detail.length > 0, answer.body);
      const logged = [...log.lines, ...impatient.log.lines];
      assert.ok(!logged.some(({ level }) => level === 'error'), JSON.stringify(logged));
    });

  test('what is broken behind its answer is not answered twice', async () => {
    const answers = await said(put('Transfer-Encoding: chunked\r\nExpect: a-miracle\r\n', 'zz\r\n'));
    assert.equal(answers.match(/^HTTP\/1\.1 /gm)?.length, 1);
  });

  test('HTTP/1.0 needs no Host', async () =>
    assert.match(await said('GET /healthz HTTP/1.0\r\n\r\n'), /^HTTP\/1\.1 200 /));

  test('a client that asks before it sends is told to go on', async () => {
    const answer = await said(put('Content-Length: 2\r\nExpect: 100-continue\r\nConnection: close\r\n', '{}'));
    assert.match(answer, /^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 422 /);
  });
});

describe('a client that goes away', { concurrency: false }, () => {
  const { log, url, open } = served();
  const head = (line: string, fields = '') => `${line} HTTP/1.1\r\nHost: 127.0.0.1\r\n${fields}\r\n`;
  const json = 'Content-Type: application/json\r\n';

  const bodies = [
    ...['', '/one', '/one/status'].map((below) => `PUT ${targets}${below}`),
    ...[`PATCH ${targets}/one`, `POST ${targets}/one/probe`, `POST ${targets}`],
    ...['PUT /v1/namespaces/default/desired', 'POST /nowhere'],
  ];
  const moments: Readonly<Record<string, string>> = {
    'before it says anything': '',
    'within a head': 'GET /healthz HT',
    'within a field': 'GET /healthz HTTP/1.1\r\nHost: 127.',
    'within a response': head('GET /openapi.json').repeat(50),
    'within a watch': head('GET /v1/watch'),
    'before a body it announced': head(`PUT ${targets}/one`, `${json}Expect: 100-continue\r\nContent-Length: 10\r\n`),
    ...Object.fromEntries(
      bodies.flatMap((line) => {
        const type = line.startsWith('PATCH') ? 'Content-Type: application/merge-patch+json\r\n' : json;
        const chunked = head(line, `${type}Transfer-Encoding: chunked\r\n`);
        return [
          [`within the body of ${line}`, `${head(line, `${type}Content-Length: 100\r\n`)}{`],
          [`within a chunk of ${line}`, `${chunked}5\r\n{`],
          [`after a chunk of ${line} that is none`, `${chunked}1\r\n{\r\nzz\r\n`],
        ];
      }),
    ),
  };
  const ways: Readonly<Record<string, (socket: Socket) => void>> = {
    'closes its side': (socket) => socket.end(),
    closes: (socket) => socket.destroy(),
    resets: (socket) => socket.resetAndDestroy(),
  };

  test('is no error of the service, whatever it did and however it went', async (t) => {
    const onConsole = (['error', 'warn', 'info', 'log'] as const).map((name) => mock.method(console, name, () => {}));
    t.after(() => mock.restoreAll());
    await askApi(url(), 'PUT', `${targets}/one`, manifest);
    for (const [moment, said] of Object.entries(moments))
      for (const [way, goAway] of Object.entries(ways)) {
        const socket = open();
        await once(socket, 'connect');
        await new Promise((resolve) => socket.write(said === '' ? '\r\n' : said, resolve));
        // The server has read what was written once it has served another client.
        await (await fetch(`${url()}/healthz`)).text();
        goAway(socket);
        if (way !== 'closes its side') await (await fetch(`${url()}/healthz`)).text();
        const errors = log.lines.filter(({ level }) => level === 'error');
        assert.deepEqual(errors, [], `a client that ${way} ${moment}`);
        const printed = onConsole.flatMap(({ mock: { calls } }) => calls.map((call) => String(call.arguments[0])));
        assert.deepEqual(printed, [], `a client that ${way} ${moment}`);
        socket.destroy();
      }
  });
});

describe('a connection that is kept', () => {
  const { open } = served({
    ...{ headersTimeout: 60_000, requestTimeout: 60_000, connectionsCheckingInterval: 20 },
    keepAliveTimeout: 10,
  });

  test('is closed once it has not been used for a while', { timeout: 30_000 }, async () => {
    const socket = open();
    socket.write('GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n');
    const [answer] = await once(socket.setEncoding('utf8'), 'data');
    assert.match(answer, /^HTTP\/1\.1 200 /);
    socket.resume();
    await once(socket, 'end');
  });
});
