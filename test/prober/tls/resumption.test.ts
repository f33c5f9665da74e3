/** Probes of a deployment that resumes TLS sessions, and of one that does not, of real servers. */
import assert from 'node:assert/strict';
import { constants, randomBytes } from 'node:crypto';
import type { Socket } from 'node:net';
import { describe, test } from 'node:test';
import type { SecureVersion, TLSSocket } from 'node:tls';
import type { Attempt } from '../../../shared/core/spec/types.ts';
import { newSocketBudget } from '../../../shared/holder/probing/sockets.ts';
import { systemClock as clock } from '../../../shared/lib/clock.ts';
import { guardedDialer } from '../../../shared/net/dialer.ts';
import { dialPolicy } from '../../../shared/net/policy.ts';
import { httpProber } from '../../../shared/prober/http/http.ts';
import { tlsSessions } from '../../../shared/prober/tls/sessions.ts';
import { fine, type ResumingOptions, type ResumingServer, resumingServer } from '../../support/resuming-server.ts';

/** Every name is this machine. */
const dial = guardedDialer({
  resolve: async () => ({ kind: 'resolved', addresses: ['127.0.0.1'] }),
  policy: dialPolicy({ mode: 'local' }),
  clock,
});

type Probe = (port: number, options?: { readonly host?: string; readonly timeoutMs?: number }) => Promise<Attempt>;

function prober(tlsSession: 'resumed' | 'always new'): Probe {
  const probe = httpProber({ dial, clock, ...(tlsSession === 'resumed' && { tlsSessions: tlsSessions(clock) }) });
  const socketBudget = newSocketBudget(clock);
  return async (port, { host = '127.0.0.1', timeoutMs = 60_000 } = {}) => {
    // As in the product: one socket at a time, also for a second handshake.
    const place = socketBudget.take('steady', 1);
    const request = {
      kind: 'http',
      url: `https://${host}:${port}/p`,
      headers: [],
      hostOverride: '',
      timeoutMs,
    } as const;
    const attempt = await probe(request, place);
    place.leave();
    return attempt;
  };
}

/** The outcomes of so many probes, one after the other. */
async function outcomes(probe: Probe, { port }: ResumingServer, count: number) {
  const found: Attempt['outcome'][] = [];
  for (let made = 0; made < count; made += 1) found.push((await probe(port)).outcome);
  return found;
}

const successes = (count: number) => Array<Attempt['outcome']>(count).fill('success');

const only = (version: SecureVersion) => ({ minVersion: version, maxVersion: version });
const versions = ['TLSv1.2', 'TLSv1.3'] as const;
const protocols = ['http/1.1', 'h2'] as const;

for (const version of versions)
  for (const protocol of protocols) {
    const options: ResumingOptions = { tls: only(version), protocol };

    test(`by default no probe over ${version} and ${protocol} offers a session`, async (t) => {
      const server = await resumingServer(t, options);
      assert.deepEqual(await outcomes(prober('always new'), server, 3), successes(3));
      assert.deepEqual([server.offered, server.resumed], [Array(3).fill(false), Array(3).fill(false)]);
    });

    test(`with the option every probe over ${version} and ${protocol} but the first is resumed`, async (t) => {
      const server = await resumingServer(t, options);
      assert.deepEqual(await outcomes(prober('resumed'), server, 4), successes(4));
      assert.deepEqual(server.resumed, [false, true, true, true]);
    });
  }

for (const version of versions)
  describe(`a server of ${version}`, () => {
    test('that gives no tickets gets full handshakes', async (t) => {
      const tls = { ...only(version), secureOptions: constants.SSL_OP_NO_TICKET };
      const server = await resumingServer(t, { tls });
      assert.deepEqual(await outcomes(prober('resumed'), server, 3), successes(3));
      assert.deepEqual(server.resumed, [false, false, false]);
    });

    test('that does not take a session any more makes a full handshake on the same connection', async (t) => {
      const server = await resumingServer(t, { tls: only(version) });
      const probe = prober('resumed');
      assert.deepEqual(await outcomes(probe, server, 2), successes(2));
      server.forgetKeys(randomBytes(48));
      assert.deepEqual(await outcomes(probe, server, 2), successes(2));
      assert.deepEqual(server.resumed, [false, true, false, true]);
      assert.deepEqual(server.offered, [false, true, true, true]);
    });

    test('whose handshake breaks on a session is asked again without, and is offered none from then on', async (t) => {
      const server = await resumingServer(t, {
        tls: only(version),
        breaks: (isOffered) => (isOffered ? reset : undefined),
      });
      assert.deepEqual(await outcomes(prober('resumed'), server, 4), successes(4));
      assert.deepEqual(server.offered, [false, true, false, false, false]);
    });

    test('that ends a resumed connection without an answer is treated the same', async (t) => {
      const server = await resumingServer(t, { tls: only(version), onResumed: (socket) => socket.destroy() });
      assert.deepEqual(await outcomes(prober('resumed'), server, 4), successes(4));
      assert.deepEqual(server.offered, [false, true, false, false, false]);
    });

    const silences: readonly (readonly [string, ResumingOptions])[] = [
      ['says nothing to a session', { breaks: (isOffered) => (isOffered ? silence : undefined) }],
      [
        'says nothing over a resumed one',
        { answer: (socket) => (socket.isSessionReused() ? undefined : fine(socket)) },
      ],
    ];
    for (const [does, options] of silences)
      test(`that ${does} fails one probe, by its time-out`, async (t) => {
        const server = await resumingServer(t, { tls: only(version), ...options });
        const probe = prober('resumed');
        assert.deepEqual(await outcomes(probe, server, 1), successes(1));
        const { outcome, failureClass } = await probe(server.port, { timeoutMs: 200 });
        assert.deepEqual([outcome, failureClass], ['failure', 'TIMEOUT']);
        assert.deepEqual(await outcomes(probe, server, 3), successes(3));
        assert.deepEqual(server.offered, [false, true, false, false, false]);
      });

    test('that fails every handshake fails the probe after one more', async (t) => {
      let isBroken = false;
      const server = await resumingServer(t, { tls: only(version), breaks: () => (isBroken ? reset : undefined) });
      const probe = prober('resumed');
      assert.deepEqual(await outcomes(probe, server, 1), successes(1));
      isBroken = true;
      const broken = found(await probe(server.port));
      assert.deepEqual([broken.outcome, broken.failureClass], ['failure', 'CONNECT_RESET']);
      assert.deepEqual(server.offered, [false, true, false]);
      assert.deepEqual(broken, found(await prober('always new')(server.port)));
    });

    test('is another one under each name', async (t) => {
      const server = await resumingServer(t, { tls: only(version) });
      const probe = prober('resumed');
      for (const host of ['a.test', 'b.test', 'a.test', 'b.test']) await probe(server.port, { host });
      assert.deepEqual(server.offered, [false, false, true, true]);
    });
  });

const silence = (): void => undefined;
const reset = (socket: Socket): void => void socket.resetAndDestroy();

describe('a probe over a resumed session', () => {
  const sent = (text: string) => (socket: TLSSocket) => void socket.end(text);
  const head = 'HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n';
  const elsewhere = 'HTTP/1.1 302 F\r\nLocation: http://b/\r\nContent-Length: 0\r\n\r\n';
  const table: readonly (readonly [string, (socket: TLSSocket) => void])[] = [
    ['a good answer', sent(`${head}123456789`)],
    ['a bad status', sent('HTTP/1.1 500 No\r\n\r\n')],
    ['a redirect elsewhere', sent(elsewhere)],
    ['a malformed head', sent('SSH-2.0-x\r\n')],
    ['a head that breaks off', sent('HTTP/1.1 200 OK\r\nContent-')],
    ['a body that breaks off', sent(`${head}x`)],
    ['a head that never comes', silence],
  ];
  for (const [what, answer] of table)
    test(`finds what any other finds, at the first attempt: ${what}`, async (t) => {
      const server = await resumingServer(t, { answer });
      const timeoutMs = what.includes('never') ? 200 : 60_000;
      const [resumed, full] = [prober('resumed'), prober('always new')];
      for (const _ of [1, 2]) {
        const ours = found(await resumed(server.port, { timeoutMs }));
        assert.deepEqual(ours, found(await full(server.port, { timeoutMs })));
      }
      assert.deepEqual(server.resumed, [false, false, true, false]);
    });
});

const found = ({ timings: _, ...attempt }: Attempt) => attempt;
