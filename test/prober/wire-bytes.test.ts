/**
 * Characters that have more than one byte, as they arrive. Cut to one byte, U+010D U+010A would be a line break and
 * U+0120 a blank.
 */
import assert from 'node:assert/strict';
import { createSecureServer, type ServerHttp2Stream } from 'node:http2';
import { createServer, type Socket } from 'node:net';
import { describe, type TestContext, test } from 'node:test';
import type { ProbeSubject } from '../../shared/core/spec/handler-fields.ts';
import type { HttpRequest } from '../../shared/core/spec/handler-http-get.ts';
import { resolveProbeRequest } from '../../shared/core/spec/probe-request.ts';
import { systemClock as clock } from '../../shared/lib/clock.ts';
import type { Dial } from '../../shared/net/net.ts';
import { grpcProber } from '../../shared/prober/grpc/grpc.ts';
import { httpProber } from '../../shared/prober/http/http.ts';
import { withSecretHeaders } from '../../shared/prober/secret-headers.ts';
import { localhostCertificate } from '../support/certificate.ts';
import { checkResponse, startHttp2 } from '../support/grpc-server.ts';
import { loopbackDial } from '../support/loopback-dial.ts';
import { listenWith, portOf } from '../support/tcp-server.ts';

const loopback = '127.0.0.1';
const timeoutSeconds = 60;
/** U+0100 to U+02FF: their low bytes are each of the 256 bytes, twice. */
const characters = Array.from({ length: 0x200 }, (_, at) => String.fromCharCode(0x100 + at));
const all = characters.join('');
const lineBreak = '\u010d\u010a';
const injection = `${lineBreak}X-Injected: 1${lineBreak}${lineBreak}`;
/** A sixteenth of them, for what takes a connection each. */
const hosts = [all, `a${lineBreak}b`, ...characters.filter((_, at) => at % 16 === 0)];
/** UTF-8, one character a byte. */
const bytesOf = (text: string) => Buffer.from(text, 'utf8').toString('latin1');

/** Whatever the name, the listener of this test is dialled. */
const dial: Dial = (request) => loopbackDial({ ...request, host: loopback });

type HttpGet = Partial<Readonly<Record<'host' | 'path' | 'scheme', string>>> & {
  readonly headers?: readonly (readonly [name: string, value: string])[];
};

const subject: ProbeSubject = {
  target: { namespace: 'default', name: 'probed', uid: 'u' },
  host: loopback,
  container: { name: 'main' },
};

function requestOf(port: number, { headers = [], ...given }: HttpGet): HttpRequest {
  const httpHeaders = headers.map(([name, value]) => ({ name, value }));
  const resolved = resolveProbeRequest({ httpGet: { ...given, port, httpHeaders }, timeoutSeconds }, subject);
  assert.ok(resolved.kind === 'request' && resolved.request.kind === 'http');
  return resolved.request;
}

const prober = withSecretHeaders(httpProber({ dial, clock }), {
  secrets: { resolve: async () => ({ kind: 'value', value: all + injection }), refusal: () => undefined },
  clock,
});

/** What arrives: each line of the request, or each field, in bytes. */
type Arrived = (t: TestContext, get: HttpGet) => Promise<readonly string[]>;

async function overHttp1(t: TestContext, get: HttpGet): Promise<readonly string[]> {
  let arrived = '';
  const server = createServer((socket: Socket) => {
    socket.on('data', (bytes) => {
      arrived += bytes.toString('latin1');
      if (arrived.endsWith('\r\n\r\n')) socket.end('HTTP/1.1 204 No Content\r\n\r\n');
    });
  });
  const port = await portOf(t, listenWith(server, loopback));
  const { outcome } = await prober(requestOf(port, get));
  assert.equal(outcome, 'success');
  return arrived.slice(0, -'\r\n\r\n'.length).replaceAll(`:${port}`, ':PORT').split('\r\n');
}

const certificate = localhostCertificate();

async function overHttp2(t: TestContext, get: HttpGet): Promise<readonly string[]> {
  const arrived: string[] = [];
  const server = createSecureServer(certificate);
  server.on('stream', (stream: ServerHttp2Stream, _headers: unknown, _flags: number, raw: readonly string[]) => {
    for (let at = 0; at < raw.length; at += 2) arrived.push(`${raw[at]}: ${raw[at + 1]}`);
    stream.respond({ ':status': 204 }, { endStream: true });
  });
  const port = await portOf(t, listenWith(server, loopback));
  const { outcome, output } = await prober(requestOf(port, { ...get, scheme: 'HTTPS' }));
  assert.equal(outcome, 'success', output);
  return arrived.map((field) => field.replaceAll(`:${port}`, ':PORT'));
}

const versions: readonly {
  readonly version: string;
  readonly arrived: Arrived;
  /** What arrives of a target, a host and fields beside them. */
  readonly request: (target: string, host: string, fields: readonly (readonly [string, string])[]) => readonly string[];
}[] = [
  {
    version: 'HTTP/1.1',
    arrived: overHttp1,
    request: (target, host, fields) => [
      `GET ${target} HTTP/1.1`,
      `Host: ${host}`,
      'User-Agent: kube-probe/1.36',
      'Accept: */*',
      ...fields.map(([name, value]) => `${name}: ${value}`),
      'Connection: close',
    ],
  },
  {
    version: 'HTTP/2',
    arrived: overHttp2,
    request: (target, host, fields) => [
      `:authority: ${host}`,
      ':method: GET',
      `:path: ${target}`,
      ':scheme: https',
      'user-agent: kube-probe/1.36',
      'accept: */*',
      ...fields.map(([name, value]) => `${name.toLowerCase()}: ${value}`),
    ],
  },
];

for (const { version, arrived, request } of versions)
  describe(`over ${version}`, () => {
    const usual = `${loopback}:PORT`;
    /** RFC 3986. */
    const escaped = encodeURIComponent(all);

    test('a value is sent in UTF-8', async (t) => {
      const lines = await arrived(t, { headers: [['X-A', all + injection]] });
      assert.deepEqual(lines, request('/', usual, [['X-A', bytesOf(all + injection)]]));
    });
    test('a secret is sent in UTF-8', async (t) => {
      const lines = await arrived(t, { headers: [['X-A', 'env:PROBELET_SECRET_A']] });
      assert.deepEqual(lines, request('/', usual, [['X-A', bytesOf(all + injection)]]));
    });
    test('a path is escaped byte by byte', async (t) =>
      assert.deepEqual(await arrived(t, { path: `/${all}` }), request(`/${escaped}`, usual, [])));
    test('a query is sent in UTF-8', async (t) =>
      assert.deepEqual(await arrived(t, { path: `/?${all}` }), request(`/?${bytesOf(all)}`, usual, [])));
    test('a host is sent in ASCII', async (t) => {
      // The example of RFC 3492, section 7.1, for Czech.
      const [name, ascii] = ['Pročprostěnemluvíčesky', 'xn--Proprostnemluvesky-uyb24dma41a'];
      const sent = [await arrived(t, { host: name }), await arrived(t, { headers: [['Host', `${name}:PORT`]] })];
      assert.deepEqual(sent, [request('/', `${ascii}:PORT`, []), request('/', `${ascii}:PORT`, [])]);
    });
    test('no character of a host becomes another', async (t) => {
      const plain = await arrived(t, { host: 'xn--' });
      for (const host of hosts) {
        const lines = await arrived(t, { host });
        const [mine, others] = [
          lines.filter((line) => !plain.includes(line)),
          plain.filter((line) => !lines.includes(line)),
        ];
        assert.deepEqual([lines.length, mine.length, others.length], [plain.length, 1, 1]);
        assert.match(mine[0] ?? '', /^(Host|:authority): (?:xn--[\x21-\x7e]+:PORT)?$/);
      }
    });
  });

describe('over gRPC', () => {
  async function asked(t: TestContext, { host = loopback, service = '' }) {
    const bodies: Buffer[] = [];
    let authority: string | undefined;
    const starting = startHttp2({}, (stream, headers) => {
      authority = headers[':authority'];
      stream.on('data', (bytes: Buffer) => bodies.push(bytes));
      stream.on('end', () => {
        stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true });
        stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
        stream.end(checkResponse('SERVING'));
      });
    });
    const port = await portOf(t, starting);
    const request = { kind: 'grpc', host, port, service, timeoutMs: timeoutSeconds * 1000 } as const;
    const { output } = await grpcProber({ dial, clock })(request);
    assert.equal(output, 'service healthy');
    return { authority: authority?.replace(`:${port}`, ':PORT'), body: Buffer.concat(bodies) };
  }

  test('a service is sent in UTF-8', async (t) => {
    const { body } = await asked(t, { service: all });
    // Flag, length of the message, tag of the field, its length as a varint.
    const head = Buffer.from([0, 0, 0, 4, 3, 0x0a, 0x80, 0x08]);
    assert.deepEqual(body, Buffer.concat([head, Buffer.from(all, 'utf8')]));
  });
  test('an authority is escaped byte by byte, as grpc-go does', async (t) => {
    for (const host of hosts) {
      const { authority } = await asked(t, { host });
      assert.equal(authority, `${encodeURIComponent(host)}:PORT`);
    }
  });
});
