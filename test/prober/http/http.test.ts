/** What the vectors do not say: classes, timings, and what happens around a probe. Sockets are real. */
import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import type { HttpRequest } from '../../../shared/core/spec/handler-http-get.ts';
import type { Attempt, FailureClass } from '../../../shared/core/spec/types.ts';
import { systemClock as clock } from '../../../shared/lib/clock.ts';
import type { Dial } from '../../../shared/net/net.ts';
import { httpProber } from '../../../shared/prober/http/http.ts';
import { loopbackDial } from '../../support/loopback-dial.ts';
import { probeUrl } from '../../support/probe-url.ts';
import { portOf } from '../../support/tcp-server.ts';
import { startWireServer, type WireAction, type WireServer } from '../../support/wire-server.ts';

const host = '127.0.0.1';

type ProbeOptions = {
  readonly scheme?: string;
  readonly timeoutMs?: number;
  readonly headers?: HttpRequest['headers'];
  readonly dial?: Dial;
};

/** Probes a server of this kind; `{PORT}` in what it sends is its own. */
async function probed(t: TestContext, server: WireServer, options: ProbeOptions = {}) {
  const { scheme = 'http', timeoutMs = 60_000, headers = [], dial = loopbackDial } = options;
  const lines: string[] = [];
  let port = 0;
  const running = await startWireServer(server, {
    seen: ({ line }) => lines.push(line),
    fill: (text) => text.replaceAll('{PORT}', String(port)),
  });
  t.after(() => running.close());
  port = running.port;
  const url = `${scheme}://${host}:${port}/p`;
  const attempt = await httpProber({ dial, clock })({ kind: 'http', url, headers, hostOverride: '', timeoutMs });
  return { attempt, lines, port };
}

const raw = (...actions: readonly WireAction[]): WireServer => ({ kind: 'raw', routes: { '*': actions } });
const fine = 'HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nfine';
const secure: WireServer = { ...raw({ send: fine }), tls: 'self-signed' };

const seen = ({ outcome, failureClass, error }: Attempt) =>
  [outcome, failureClass, error === undefined ? 'result' : 'error'] as const;

describe('an HTTP probe says whose fault it is', () => {
  const sent = (...lines: readonly string[]) => raw({ send: lines.join('\r\n') });
  const elsewhere = sent('HTTP/1.1 302 F', 'Location: http://b/', 'Content-Length: 0', '', '');
  const unreadable = sent('HTTP/1.1 302 F', 'Location: :', '', '');
  const otherProtocol = sent('HTTP/1.1 302 F', `Location: ftp://${host}/`, '', '');
  const cut = sent('HTTP/1.1 200 OK', 'Content-Length: 9', '', 'x');
  const cutFailure = raw({ send: 'HTTP/1.1 500 No\r\nContent-Length: 9\r\n\r\nx' }, { reset: true });
  /** What, the server, and what the attempt is: its outcome, its class, and whether it is a result or an error. */
  const table: readonly (readonly [string, WireServer, Attempt['outcome'], FailureClass?, string?])[] = [
    ['a good answer', raw({ send: fine }), 'success'],
    ['a redirect elsewhere', elsewhere, 'warning'],
    ['a bad status', sent('HTTP/1.1 500 No', '', ''), 'failure', 'HTTP_STATUS'],
    ['a malformed head', sent('SSH-2.0-x', ''), 'failure', 'HTTP_PROTOCOL'],
    ['no answer at all', raw(), 'failure', 'HTTP_PROTOCOL'],
    ['a reset', raw({ reset: true }), 'failure', 'CONNECT_RESET'],
    ['a redirect that cannot be read', unreadable, 'failure', 'HTTP_REDIRECT'],
    ['a redirect to another protocol', otherProtocol, 'failure', 'HTTP_REDIRECT'],
    ['a refused connection', { kind: 'closed' }, 'failure', 'CONNECT_REFUSED'],
    ['a body that breaks off', cut, 'failure', 'BODY', 'error'],
    ['a bad status whose body breaks off', cutFailure, 'failure', 'BODY', 'error'],
  ];
  for (const [what, server, outcome, failureClass, kind = 'result'] of table)
    test(`${what}: ${outcome}, ${failureClass ?? 'no class'}`, async (t) =>
      assert.deepEqual(seen((await probed(t, server)).attempt), [outcome, failureClass, kind]));

  const timeoutMs = 200;
  const endless = raw({ send: 'HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nx' }, { hold: true });
  const late = '(Client.Timeout exceeded while awaiting headers)';
  for (const [what, server, failureClass, kind, text] of [
    ['a head that never comes', raw({ hold: true }), 'TIMEOUT', 'result', `context deadline exceeded ${late}`],
    ['a body that never ends in time', endless, 'BODY', 'error'],
    ['a connection that is not accepted', { kind: 'backlog-full' }, 'CONNECT_TIMEOUT', 'result'],
  ] as const)
    test(`${what}: ${failureClass}`, async (t) => {
      const { attempt, port } = await probed(t, server, { timeoutMs });
      assert.deepEqual(seen(attempt), ['failure', failureClass, kind]);
      if (text) assert.equal(attempt.output, `Get "http://${host}:${port}/p": ${text}`);
    });

  test('a redirect whose body hangs uses up the time of the next request', async (t) => {
    const hanging = raw({ send: 'HTTP/1.1 302 F\r\nLocation: /next\r\nContent-Length: 9\r\n\r\nx' }, { hold: true });
    const { attempt, lines, port } = await probed(t, hanging, { timeoutMs });
    assert.deepEqual(seen(attempt), ['failure', 'TIMEOUT', 'result']);
    assert.match(attempt.output, new RegExp(`^Get "http://${host}:${port}/next": context deadline exceeded`));
    assert.deepEqual(lines, ['GET /p HTTP/1.1']);
  });

  test('headers that cannot be sent: HANDLER, without a dial', async (t) => {
    const headers: HttpRequest['headers'] = [['X-A', 'a\r\nX-B: b']];
    const { attempt, lines, port } = await probed(t, raw({ send: fine }), { headers });
    assert.deepEqual(seen(attempt), ['failure', 'HANDLER', 'result']);
    assert.equal(attempt.output, `Get "http://${host}:${port}/p": net/http: invalid header field value for "X-A"`);
    assert.deepEqual(lines, []);
  });

  for (const failureClass of ['PROBER', 'POLICY_DENIED'] as const)
    test(`${failureClass} is an error that counts for nothing`, async (t) => {
      const dial: Dial = async () => ({ kind: 'failed', failureClass, message: 'internal error' });
      const { attempt } = await probed(t, raw({ send: fine }), { dial });
      assert.deepEqual(seen(attempt), ['unknown', failureClass, 'error']);
      assert.equal(attempt.error, 'internal error');
    });
});

describe('an HTTP probe', () => {
  /** Redirects to `/end`, with this body after its head. */
  const redirecting = (contentLength: number, ...rest: readonly WireAction[]): WireServer => {
    const head = `HTTP/1.1 302 F\r\nLocation: /end\r\nContent-Length: ${contentLength}\r\n\r\n`;
    const body = contentLength > 0 ? 'x' : '';
    return { kind: 'raw', routes: { '/p': [{ send: head + body }, ...rest], '/end': [{ send: fine }] } };
  };

  test('follows a redirect that has no body', async (t) => {
    const { attempt, lines } = await probed(t, redirecting(0));
    assert.equal(attempt.output, 'fine');
    assert.deepEqual(lines, ['GET /p HTTP/1.1', 'GET /end HTTP/1.1']);
  });

  test('follows a redirect although its short body breaks off', async (t) =>
    assert.equal((await probed(t, redirecting(9))).attempt.output, 'fine'));

  test('does not wait for the long body of a redirect', async (t) =>
    assert.equal((await probed(t, redirecting(4096, { hold: true }))).attempt.output, 'fine'));

  test('follows a redirect from HTTP to HTTPS on the same name', async (t) => {
    const location = `https://${host}:${await portOf(t, startWireServer(secure))}/end`;
    const server = raw({ send: `HTTP/1.1 302 F\r\nLocation: ${location}\r\nContent-Length: 0\r\n\r\n` });
    assert.equal((await probed(t, server)).attempt.output, 'fine');
  });

  test('hides the password of a URL in its texts', async () => {
    const { output } = await probeUrl('http://user:secret@127.0.0.1:70000/');
    assert.equal(output, 'Get "http://user:***@127.0.0.1:70000/": dial tcp: address 70000: invalid port');
  });

  test('times each phase that happened', async (t) => {
    const { connectMs, firstByteMs, tlsMs, totalMs } = (await probed(t, raw({ send: fine }))).attempt.timings;
    assert.equal(tlsMs, undefined);
    assert.ok(totalMs >= (connectMs ?? Number.NaN) + (firstByteMs ?? Number.NaN));
    const secured = (await probed(t, secure, { scheme: 'https' })).attempt.timings;
    assert.ok(secured.totalMs >= (secured.tlsMs ?? Number.NaN));
  });

  test('closes its connection, whatever the outcome', async (t) => {
    const closed: Promise<unknown>[] = [];
    const dial: Dial = async (request) => {
      const dialed = await loopbackDial(request);
      if (dialed.kind === 'connected') closed.push(new Promise((resolve) => dialed.socket.once('close', resolve)));
      return dialed;
    };
    await probed(t, raw({ send: fine }, { hold: true }), { dial });
    await probed(t, raw({ hold: true }), { dial, timeoutMs: 100 });
    await probed(t, secure, { dial, scheme: 'https' });
    await probed(t, { kind: 'accept-silent' }, { dial, scheme: 'https', timeoutMs: 100 });
    await probed(t, { kind: 'http2' }, { dial, scheme: 'https' });
    assert.equal(closed.length, 5);
    await Promise.all(closed);
  });
});

describe('an HTTPS probe', () => {
  for (const tls of ['self-signed', 'expired', 'wrong-name', 'tls1.2-only'] as const)
    test(`takes a ${tls} server`, async (t) => {
      const { attempt } = await probed(t, { ...secure, tls }, { scheme: 'https' });
      assert.deepEqual([attempt.outcome, attempt.output], ['success', 'fine']);
    });

  for (const [what, server, failureClass] of [
    ['a server of TLS 1.0', { ...secure, tls: 'tls1.0-only' }, 'TLS'],
    ['a server that speaks plain HTTP', { kind: 'speak-first', routes: { '*': [{ send: fine }] } }, 'TLS'],
    ['a server that hangs up', { kind: 'accept-close' }, undefined],
  ] as const satisfies readonly (readonly [string, WireServer, FailureClass | undefined])[])
    test(`fails at ${what}`, async (t) => {
      const { attempt } = await probed(t, server, { scheme: 'https' });
      assert.equal(attempt.outcome, 'failure');
      assert.equal(attempt.error, undefined);
      if (failureClass !== undefined) assert.equal(attempt.failureClass, failureClass);
    });

  test('is as lenient over TLS as in the clear', async (t) => {
    const lenient = raw({ send: 'HTTP/1.1 200 OK\nX-A : 1\n folded\nContent-Length: 4\n\nfine' });
    const { attempt } = await probed(t, { ...lenient, tls: 'self-signed' }, { scheme: 'https' });
    assert.deepEqual([attempt.outcome, attempt.output], ['success', 'fine']);
  });

  test('refuses over HTTP/2 what HTTP/2 has no place for', async (t) => {
    const headers: HttpRequest['headers'] = [['Connection', 'Upgrade']];
    const { attempt } = await probed(t, { kind: 'http2' }, { scheme: 'https', headers });
    assert.deepEqual(seen(attempt), ['failure', 'HTTP_PROTOCOL', 'result']);
    assert.match(attempt.output, /http2: invalid Connection request header/);
  });
});
