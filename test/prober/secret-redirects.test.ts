/**
 * Where a secret goes when the answer to a probe is a redirect: real listeners, each of which speaks HTTP and HTTPS on
 * one port.
 */
import assert from 'node:assert/strict';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createSecureServer } from 'node:http2';
import { createServer as createTcpServer, type Socket } from 'node:net';
import { after, before, beforeEach, describe, test } from 'node:test';
import { systemClock as clock } from '../../shared/lib/clock.ts';
import { proberRegistry } from '../../shared/prober/registry.ts';
import { localhostCertificate } from '../support/certificate.ts';
import { loopbackDial as dial } from '../support/loopback-dial.ts';
import { listenWith, type RunningServer } from '../support/tcp-server.ts';

const certificate = localhostCertificate();

type Arrived = { readonly at: string; readonly fields: readonly string[] };

const arrived: Arrived[] = [];
const secretFields = ['authorization: hush', 'cookie: hush', 'referer: hush', 'x-token: hush'];
const literalFields = ['x-plain: kept', 'x-token: kept'];

/** The first byte of a TLS handshake. */
const handshake = 0x16;

/** HTTP/1.1, and HTTP/2 over TLS. What to answer is in the query: a status, and where that leads. */
function listener(host: string): Promise<RunningServer> {
  const answer = (request: Pick<IncomingMessage, 'headers' | 'url' | 'rawHeaders'>, response: ServerResponse) => {
    const url = new URL(request.url ?? '', 'http://none');
    const scheme = ':scheme' in request.headers ? 'https' : 'http';
    const authority = request.headers[':authority'] ?? request.headers.host;
    arrived.push({ at: `${scheme}://${authority}${url.pathname}`, fields: fieldsOf(request.rawHeaders) });
    const to = url.searchParams.get('to');
    response.writeHead(to === null ? 200 : Number(url.searchParams.get('status')), to === null ? {} : { location: to });
    response.end();
  };
  const plain = createServer(answer);
  const secure = createSecureServer(certificate, answer as never);
  const server = createTcpServer((socket: Socket) => {
    socket.once('data', (bytes: Buffer) => {
      socket.pause();
      socket.unshift(bytes);
      (bytes[0] === handshake ? secure : plain).emit('connection', socket);
      process.nextTick(() => socket.resume());
    });
  });
  return listenWith(server, host);
}

/** Of the fields that the probe has to send, those that arrived. */
const fieldsOf = (raw: readonly string[]): readonly string[] =>
  raw
    .flatMap((name, at) => (at % 2 === 0 ? [`${name.toLowerCase()}: ${raw[at + 1]}`] : []))
    .filter((field) => [...secretFields, ...literalFields].includes(field))
    .toSorted();

const { http: prober } = proberRegistry({
  dial,
  clock,
  run: async () => ({ kind: 'denied', message: 'not here' }),
  secrets: { refusal: () => undefined, resolve: async () => ({ kind: 'value', value: 'hush' }) },
});

const probe = (url: string) =>
  prober({
    kind: 'http',
    url,
    headers: [
      ['Authorization', 'env:PROBELET_SECRET_TOKEN'],
      ['Cookie', 'env:PROBELET_SECRET_TOKEN'],
      ['Referer', 'env:PROBELET_SECRET_TOKEN'],
      ['X-Token', 'env:PROBELET_SECRET_TOKEN'],
      ['X-Token', 'kept'],
      ['X-Plain', 'kept'],
    ],
    hostOverride: '',
    timeoutMs: 5_000,
  });

/** From the first URL to the last, each answered with this status. */
const leading = (urls: readonly string[], status: number): string =>
  urls.reduceRight((to, url) => (to === '' ? url : `${url}?status=${status}&to=${encodeURIComponent(to)}`), '');

const everything = [...secretFields, ...literalFields].toSorted();

describe('a secret in a header', () => {
  const servers: RunningServer[] = [];
  const ports: { readonly [host: string]: number[] } = { '127.0.0.1': [], '127.0.0.2': [] };

  before(async () => {
    for (const host of ['127.0.0.1', '127.0.0.1', '127.0.0.2']) {
      const running = await listener(host);
      servers.push(running);
      ports[host]?.push(running.port);
    }
  });
  beforeEach(() => void arrived.splice(0));
  after(() => Promise.all(servers.map(({ close }) => close())));

  const origin = (scheme: string, host: string, listenerNumber: number): string =>
    `${scheme}://${host}:${ports[host]?.[listenerNumber]}`;

  const others = [
    ...['http', 'https'].flatMap((scheme) => [0, 1].map((number) => [scheme, '127.0.0.1', number] as const)),
    ...['http', 'https'].map((scheme) => [scheme, '127.0.0.2', 0] as const),
  ];
  for (const first of ['http', 'https'])
    for (const [scheme, host, number] of others)
      for (const status of [301, 302, 303, 307, 308]) {
        const isSame = scheme === first && host === '127.0.0.1' && number === 0;
        const what = isSame ? 'stays' : `goes to ${scheme}, ${host}, ${number === 0 ? 'same' : 'other'} listener`;
        test(`${status} from ${first}: ${what}`, async () => {
          const [from, to] = [origin(first, '127.0.0.1', 0), origin(scheme, host, number)];
          await probe(leading([`${from}/1`, `${to}/2`], status));
          const second = { at: `${to}/2`, fields: isSame ? everything : literalFields };
          assert.deepEqual(arrived, [
            { at: `${from}/1`, fields: everything },
            // Another host is not asked at all, as with kubelet.
            ...(host === '127.0.0.1' ? [second] : []),
          ]);
        });
      }

  const chains: readonly (readonly [what: string, between: readonly [scheme: string, number: number]])[] = [
    ['another port', ['https', 1]],
    ['plain HTTP', ['http', 0]],
  ];
  for (const [what, [scheme, number]] of chains)
    test(`does not come back from a detour over ${what}`, async () => {
      const home = origin('https', '127.0.0.1', 0);
      const detour = origin(scheme, '127.0.0.1', number);
      await probe(leading([`${home}/1`, `${home}/2`, `${detour}/3`, `${home}/4`, `${home}/5`], 302));
      assert.deepEqual(
        arrived.map(({ at, fields }) => [at, fields.length]),
        [
          [`${home}/1`, everything.length],
          [`${home}/2`, everything.length],
          [`${detour}/3`, literalFields.length],
          [`${home}/4`, literalFields.length],
          [`${home}/5`, literalFields.length],
        ],
      );
    });
});
