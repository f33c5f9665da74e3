/**
 * Rare answers and requests on real sockets. Every expectation was seen from the HTTP prober of kubelet v1.36.3 against
 * the same bytes. Texts are one character per byte.
 */
import assert from 'node:assert/strict';
import { createServer, type Socket } from 'node:net';
import { describe, type TestContext, test } from 'node:test';
import { resolveProbeRequest } from '../../../shared/core/spec/probe-request.ts';
import type { Attempt } from '../../../shared/core/spec/types.ts';
import { systemClock as clock } from '../../../shared/lib/clock.ts';
import { guardedDialer } from '../../../shared/net/dialer.ts';
import { dialPolicy } from '../../../shared/net/policy.ts';
import { resolver } from '../../../shared/net/resolver.ts';
import { httpProber } from '../../../shared/prober/http/http.ts';
import { startDnsServer } from '../../support/dns-server.ts';
import { loopbackDial } from '../../support/loopback-dial.ts';
import { probeUrl } from '../../support/probe-url.ts';
import { listenWith, portOf } from '../../support/tcp-server.ts';
import { startWireServer } from '../../support/wire-server.ts';

const loopback = '127.0.0.1';
const patientMs = 60_000;

type Pieces = readonly string[];
type Probe = { readonly path?: string; readonly hostHeader?: string; readonly timeoutMs?: number };
type Probed = { readonly attempt: Attempt; readonly heads: readonly string[] };

/**
 * Probes a server that answers each request target with these pieces, and then keeps the connection. `{PORT}` is its
 * port.
 */
async function probed(t: TestContext, answers: (target: string) => Pieces, probe: Probe = {}): Promise<Probed> {
  const { path = '/', hostHeader, timeoutMs = patientMs } = probe;
  const heads: string[] = [];
  const server = createServer((socket) => {
    void requestHead(socket).then((head) => {
      heads.push(head.replaceAll(`:${port}`, ':{PORT}'));
      for (const piece of answers(head.split(' ')[1] ?? ''))
        socket.write(piece.replaceAll('{PORT}', `${port}`), 'latin1');
    });
  });
  const port = await portOf(t, listenWith(server, loopback));
  const httpHeaders = hostHeader === undefined ? [] : [{ name: 'Host', value: hostHeader }];
  const handler = { httpGet: { path, port, httpHeaders }, timeoutSeconds: timeoutMs / 1000 };
  const target = { namespace: 'default', name: 'x', uid: 'x' };
  const subject = { target, host: loopback, container: { name: 'main' } };
  const resolved = resolveProbeRequest(handler, subject);
  if (resolved.kind === 'error' || resolved.request.kind !== 'http') assert.fail('no HTTP request');
  return { attempt: await httpProber({ dial: loopbackDial, clock })(resolved.request), heads };
}

function requestHead(socket: Socket): Promise<string> {
  let head = '';
  return new Promise((resolve) => {
    socket.on('data', (bytes) => {
      head += bytes.toString('latin1');
      if (head.includes('\r\n\r\n')) resolve(head);
    });
  });
}

const verdict = ({ outcome, error, output }: Attempt): string =>
  error !== undefined ? 'error' : outcome === 'success' ? `success ${output.slice(0, 20)}` : outcome;

const ok = 'HTTP/1.1 200 OK\r\n';
const chunks = '2\r\nok\r\n0\r\n\r\n';
const fine = `${ok}Content-Length: 2\r\n\r\nok`;

describe('kubelet reads an answer', () => {
  const twoLengths = (second: string) => `${ok}Content-Length: 2\r\nContent-Length: ${second}\r\n\r\nok`;
  const trailer = (name: string) => `${ok}Transfer-Encoding: chunked\r\nTrailer: ${name}\r\n\r\n${chunks}`;
  const encoding = (value: string) => `${ok}Transfer-Encoding:${value}\r\n\r\n${chunks}`;
  const length = (value: string) => `${ok}Content-Length:${value}\r\n\r\nok`;
  const table: Readonly<Record<string, readonly [answer: string, verdict: string]>> = {
    'whose encoding stands in a fold after an empty line': [encoding('\r\n chunked'), 'success ok'],
    'whose encoding stands in the second fold': [encoding(' \t\r\n \r\n\tchunked'), 'success ok'],
    'whose encoding is followed by an empty fold': [encoding(' chunked\r\n '), 'failure'],
    'whose length stands in a fold': [length('\r\n 2'), 'success ok'],
    'whose length ends in a no-break space': [length(' 2\xa0'), 'failure'],
    'whose length begins with a no-break space': [length('\xa02'), 'failure'],
    'whose length ends in a next-line character': [length(' 2\x85'), 'failure'],
    'whose second length differs by a no-break space': [twoLengths('2\xa0'), 'failure'],
    'whose second length differs by blanks': [twoLengths(' 2 \t'), 'success ok'],
    'whose trailer names a length with a no-break space': [trailer('content-length\xa0'), 'success ok'],
    'whose trailer names a length': [trailer('content-length '), 'failure'],
  };
  for (const [what, [answer, expected]] of Object.entries(table))
    test(`${what}: ${expected}`, async (t) =>
      assert.equal(verdict((await probed(t, () => [answer])).attempt), expected));
});

/** A chunk that is all of what kubelet reads, and then these bytes in the same write. */
const body = 'q'.repeat(10_240);
const fullThen = (rest: string): string => `${ok}Transfer-Encoding: chunked\r\n\r\n2800\r\n${body}${rest}`;

describe('kubelet looks beyond a body of exactly 10,240 bytes', () => {
  const success = `success ${body.slice(0, 20)}`;
  const table: Readonly<Record<string, readonly [rest: string, verdict: string]>> = {
    'at a chunk line that does not fit its buffer': [`\r\n5;${'e'.repeat(5000)}`, success],
    'at one that ends there': [`\r\n5;${'e'.repeat(5000)}\r\nabcde\r\n0\r\n\r\n`, success],
    'at a bad chunk line that ends beyond its buffer': [`\r\nz;${'e'.repeat(2000)}\r\n`, success],
    'at a chunk line that has not ended': ['\r\nzz', success],
    'at a bad chunk line': ['\r\nzz\r\n', 'error'],
    'at what is no line end': ['xx', 'error'],
  };
  for (const [what, [rest, expected]] of Object.entries(table))
    test(`${what}: ${expected}`, async (t) =>
      assert.equal(verdict((await probed(t, () => [fullThen(rest)])).attempt), expected));
});

/** A head of this many bytes, its end in the last piece together with the body. */
function longHead(bytes: number, informational = ''): Pieces {
  const first = `${informational}${ok}X: `;
  const last = '\r\nContent-Length: 2\r\n\r\n';
  const filling = 'y'.repeat(bytes - first.length - last.length);
  return [first + filling.slice(100), `${filling.slice(0, 100)}${last}ok`];
}

describe('kubelet reads a head', () => {
  const headBytesMax = 10 * 1024 * 1024;
  for (const [what, bytes, expected] of [
    ['of 10 MiB', headBytesMax, 'success ok'],
    ['of a byte more', headBytesMax + 1, 'failure'],
    ['of some thousand more', headBytesMax + 5000, 'failure'],
  ] as const) {
    test(`${what}, whose end comes in the last piece: ${expected}`, async (t) =>
      assert.equal(verdict((await probed(t, () => longHead(bytes))).attempt), expected));
    test(`${what}, an informational one included: ${expected}`, async (t) => {
      const pieces = longHead(bytes, 'HTTP/1.1 100 C\r\n\r\n');
      assert.equal(verdict((await probed(t, () => pieces)).attempt), expected);
    });
  }
});

describe('kubelet follows a redirect', () => {
  const found = (location: string) => `HTTP/1.1 302 Found\r\nLocation:${location}\r\nContent-Length: 0\r\n\r\n`;
  const lines = ({ heads }: Probed) => heads.map((head) => head.slice(0, head.indexOf(' HTTP/1.1')));

  test('that stands in a fold after an empty line', async (t) => {
    const seen = await probed(t, (target) => [target === '/' ? found('\r\n /x') : fine]);
    assert.deepEqual([verdict(seen.attempt), ...lines(seen)], ['success ok', 'GET /', 'GET /x']);
  });

  for (const [what, location, asked] of [
    ['a byte of its query that is no UTF-8 as it is', ' /x?a=\xe9', '/x?a=\xe9'],
    ['UTF-8 in its query as it is', ' /x?a=\xc3\xa9', '/x?a=\xc3\xa9'],
    ['the query of an absolute URL as it is', ' http://127.0.0.1:{PORT}/x?a=\xe9\xff', '/x?a=\xe9\xff'],
    ['a byte of its path escaped', ' /x\xe9', '/x%E9'],
  ] as const)
    test(`and sends ${what}`, async (t) => {
      const seen = await probed(t, (target) => [target === '/' ? found(location) : fine]);
      assert.deepEqual([verdict(seen.attempt), ...lines(seen)], ['success ok', 'GET /', `GET ${asked}`]);
    });

  test('and resolves the next one against the bytes that it sent', async (t) => {
    const locations: Readonly<Record<string, string>> = { '/': ' /x?a=\xe9', '/x?a=\xe9': ' ?b' };
    const seen = await probed(t, (target) => {
      const location = locations[target];
      return [location === undefined ? fine : found(location)];
    });
    assert.deepEqual(lines(seen), ['GET /', 'GET /x?a=\xe9', 'GET /x?b']);
    assert.match(seen.heads[2] ?? '', /\r\nReferer: http:\/\/127\.0\.0\.1:\{PORT\}\/x\?a=\xe9\r\n/);
  });
});

describe('kubelet writes the Host header', () => {
  const sent: Readonly<Record<string, string>> = {
    'münchen.test': 'xn--mnchen-3ya.test',
    'MÜNCHEN.test': 'xn--MNCHEN-psa.test',
    'MÜNCHEN.test:80': 'xn--MNCHEN-psa.test:80',
    'xn--mnchen-3ya.test': 'xn--mnchen-3ya.test',
    'İ.test': 'xn--bfa.test',
    'ß.test': 'xn--zca.test',
    'a\u200db.test': 'xn--ab-m1t.test',
    'a。b': 'xn--ab-r13a',
    '１２７.0.0.1': 'xn--8g7ccp.0.0.1',
    '🙂.test': 'xn--938h.test',
    'é b': '',
    'é/b': '',
    'é@b': '',
    'é\t': '',
    'é:x': 'xn--9ca:x',
    'é:': 'xn--9ca',
    'é:80:90': 'xn--:80:90-9ua',
    '[é]:80': 'xn--9ca:80',
    '[é]': 'xn--[]-bja',
    'é%b': 'xn--%b-9ia',
  };
  for (const [given, host] of Object.entries(sent))
    test(`${JSON.stringify(given)} as ${JSON.stringify(host)}`, async (t) => {
      const { attempt, heads } = await probed(t, () => [fine], { hostHeader: given });
      assert.equal(verdict(attempt), 'success ok');
      const hosts = heads.map((head) => /\r\nHost: (.*)\r\n/.exec(head)?.[1]);
      assert.deepEqual(hosts, [host]);
    });

  test('"xn--é" not at all: the request fails', async (t) => {
    const { attempt, heads } = await probed(t, () => [fine], { hostHeader: 'xn--é' });
    assert.deepEqual([verdict(attempt), heads], ['failure', []]);
  });
});

describe('kubelet looks a host up', () => {
  /** Asked of DNS, which knows none of them here; the empty list: not even asked. */
  const questions: Readonly<Record<string, readonly string[]>> = {
    '127.1': [],
    '127.0.0.01': [],
    '2130706433': [],
    '017700000001': [],
    '127.0.0.1.': [],
    '127.0.0.1%lo': [],
    '0x7f.0.0.1': ['0x7f.0.0.1 A', '0x7f.0.0.1 AAAA'],
    'localhost.': ['localhost A', 'localhost AAAA'],
    'x.localhost': ['x.localhost A', 'x.localhost AAAA'],
  };
  for (const [host, asked] of Object.entries(questions))
    test(`${host}: a name, ${asked.length === 0 ? 'not asked of DNS' : 'asked of DNS'}, and a failure`, async (t) => {
      const dns = await startDnsServer(() => undefined);
      t.after(() => dns.close());
      const resolve = resolver({ clock, servers: [dns.address] });
      const dial = guardedDialer({ resolve, policy: dialPolicy({ mode: 'local' }), clock });
      const { outcome, failureClass, error } = await probeUrl(`http://${host}:80/`, dial);
      assert.deepEqual([outcome, failureClass, error], ['failure', 'DNS', undefined]);
      assert.deepEqual(dns.questions.toSorted(), asked);
    });
});

test('text that is not ASCII goes as UTF-8 over HTTP/2 too', async (t) => {
  const lines: string[] = [];
  const server = await startWireServer(
    { kind: 'http2' },
    { seen: ({ line, headers }) => lines.push(latin1ToText(`${line} ${headers.join(' ')}`)), fill: (text) => text },
  );
  t.after(() => server.close());
  const url = `https://${loopback}:${server.port}/?é=日`;
  const sent = { headers: [['User-Agent', 'é日']], hostOverride: '', timeoutMs: patientMs } as const;
  const attempt = await httpProber({ dial: loopbackDial, clock })({ kind: 'http', url, ...sent });
  assert.equal(verdict(attempt), 'success h2 ok');
  assert.match(lines.join(), /^GET \/\?é=日 HTTP\/2\.0 .*user-agent,é日/);
});

const latin1ToText = (bytes: string): string => Buffer.from(bytes, 'latin1').toString();

/** docs/semantics.md, difference 10: kubelet waits for such a peer as long as it likes. */
test('a protocol switch whose peer falls silent ends at the time-out, as a prober error', async (t) => {
  const answer = 'HTTP/1.1 101 Switching\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\nabc';
  const { attempt } = await probed(t, () => [answer], { timeoutMs: 100 });
  assert.deepEqual([verdict(attempt), attempt.failureClass], ['error', 'BODY']);
});
