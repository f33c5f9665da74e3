/**
 * The fields that an HTTPS probe over HTTP/2 sends. Every expectation was seen from the HTTP prober of kubelet v1.36.3.
 */
import assert from 'node:assert/strict';
import { createSecureServer, type ServerHttp2Stream } from 'node:http2';
import { describe, type TestContext, test } from 'node:test';
import { resolveProbeRequest } from '../../../shared/core/spec/probe-request.ts';
import { systemClock as clock } from '../../../shared/lib/clock.ts';
import { httpProber } from '../../../shared/prober/http/http.ts';
import { localhostCertificate } from '../../support/certificate.ts';
import { loopbackDial } from '../../support/loopback-dial.ts';
import { listenWith, portOf } from '../../support/tcp-server.ts';

const loopback = '127.0.0.1';
const certificate = localhostCertificate();

type Headers = readonly (readonly [name: string, value: string])[];

/** The regular fields that arrive, in order. */
async function sent(t: TestContext, headers: Headers): Promise<readonly string[] | string> {
  const fields: string[] = [];
  const server = createSecureServer(certificate);
  server.on('stream', (stream: ServerHttp2Stream, _headers: unknown, _flags: number, raw: readonly string[]) => {
    for (let at = 0; at < raw.length; at += 2)
      if (!raw[at]?.startsWith(':')) fields.push(`${raw[at]}: ${Buffer.from(raw[at + 1] ?? '', 'latin1').toString()}`);
    stream.respond({ ':status': 200 }, { endStream: true });
  });
  const port = await portOf(t, listenWith(server, loopback));
  const httpHeaders = headers.map(([name, value]) => ({ name, value }));
  const target = { namespace: 'default', name: 'probed', uid: 'u' };
  const resolved = resolveProbeRequest(
    { httpGet: { path: '/', port, scheme: 'HTTPS', httpHeaders }, timeoutSeconds: 60 },
    { target, host: loopback, container: { name: 'main', ports: [] } },
  );
  assert.ok(resolved.kind === 'request' && resolved.request.kind === 'http');
  const { outcome, output } = await httpProber({ dial: loopbackDial, clock })(resolved.request);
  return outcome === 'success' ? fields.toSorted() : output;
}

describe('over HTTP/2', () => {
  const agent = 'user-agent: kube-probe/1.36';
  const accept = 'accept: */*';
  const table: readonly (readonly [what: string, headers: Headers, sent: readonly string[]])[] = [
    ['without headers of its own', [], []],
    [
      'the pairs of a cookie',
      [['Cookie', 'a=1; b=2;c=3;  d=4']],
      ['cookie: a=1', 'cookie: b=2', 'cookie: c=3', 'cookie: d=4'],
    ],
    ['a cookie that ends with a separator', [['Cookie', 'a=1; ']], ['cookie: a=1']],
    ['an empty pair', [['Cookie', 'a=1;;b']], ['cookie: a=1', 'cookie: ', 'cookie: b']],
    ['an empty cookie', [['Cookie', '']], []],
    [
      'two cookies',
      [
        ['Cookie', 'a'],
        ['Cookie', 'b; c'],
      ],
      ['cookie: a', 'cookie: b', 'cookie: c'],
    ],
    ['an empty value', [['X-A', '']], ['x-a: ']],
    [
      'names in two spellings',
      [
        ['X-A', '1'],
        ['x-a', '2'],
      ],
      ['x-a: 1', 'x-a: 2'],
    ],
    [
      'what the connection decides',
      [
        ['Transfer-Encoding', 'chunked'],
        ['Content-Length', '5'],
        ['Keep-Alive', '5'],
        ['Proxy-Connection', 'x'],
        ['Connection', 'Keep-Alive'],
        ['Upgrade', 'chunked'],
      ],
      [],
    ],
    ['a trailer that is announced', [['Trailer', 'X-B']], ['trailer: X-B']],
    ['te', [['Te', 'trailers']], ['te: trailers']],
  ];
  for (const [what, headers, fields] of table)
    test(what, async (t) => assert.deepEqual(await sent(t, headers), [...fields, accept, agent].toSorted()));

  test('of two user agents the first goes, and none that is empty', async (t) => {
    assert.deepEqual(
      await sent(t, [
        ['User-Agent', 'one'],
        ['User-Agent', 'two'],
      ]),
      [accept, 'user-agent: one'],
    );
    assert.deepEqual(await sent(t, [['User-Agent', '']]), [accept]);
  });

  for (const [name, ...values] of [
    ['Transfer-Encoding', 'gzip'],
    ['Connection', 'x'],
    ['Connection', 'close', 'close'],
    ['Upgrade', 'h2c'],
  ] as const)
    test(`${name}: ${values.join(', ')} is refused`, async (t) => {
      const output = await sent(
        t,
        values.map((value) => [name, value]),
      );
      const quoted = values.map((value) => `"${value}"`).join(' ');
      assert.ok(String(output).endsWith(`/": http2: invalid ${name} request header: [${quoted}]`), String(output));
    });
});
