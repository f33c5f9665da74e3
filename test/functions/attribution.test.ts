/**
 * For which probe the event loop works, as the watchdog's thread reads it, while several probes are under way on real
 * sockets.
 */
import assert from 'node:assert/strict';
import { createSecureServer } from 'node:http2';
import { createServer, type Socket } from 'node:net';
import { describe, type TestContext, test } from 'node:test';
import { createServer as createTlsServer } from 'node:tls';
import { sharedAttribution } from '../../functions/watchdog/attribution.ts';
import { cell, lengthBytes, rowBytes, sharedCells } from '../../functions/watchdog/cells.ts';
import type { ProbeRequest } from '../../shared/core/spec/handlers.ts';
import { attributedClock } from '../../shared/lib/attribution.ts';
import { systemClock } from '../../shared/lib/clock.ts';
import { guardedDialer } from '../../shared/net/dialer.ts';
import type { Resolve } from '../../shared/net/net.ts';
import { proberRegistry } from '../../shared/prober/registry.ts';
import { localhostCertificate } from '../support/certificate.ts';
import { listenWith, portOf } from '../support/tcp-server.ts';

const head = 'HTTP/1.1 200 OK\r\nLocation: /x\r\n';
const rest = 'Content-Length: 2\r\n\r\nok';

/** In three parts, each in a turn of its own. */
function answerSlowly(socket: Socket): void {
  socket.on('error', () => undefined);
  socket.once('data', () => {
    socket.write(head);
    setImmediate(() => {
      socket.write(rest.slice(0, 12));
      setImmediate(() => socket.end(rest.slice(12)));
    });
  });
}

/** Probers that look on whose behalf they run at each call of what they are given. */
function watchedProbers() {
  const shared = sharedCells();
  const attribution = sharedAttribution(shared);
  const seen: { readonly at: string; readonly name: string }[] = [];
  const current = (): string => {
    const start = (shared.cells[cell.row] ?? 0) * rowBytes;
    if (start === 0) return '';
    const from = start + lengthBytes;
    return shared.names.toString('latin1', from, from + shared.names.readInt32LE(start));
  };
  const look = (at: string) => void seen.push({ at, name: current() });
  const clock = attributedClock(systemClock, attribution);
  /** All names are asked at once and answered together, as by a shared lookup. */
  const lookup = Promise.withResolvers<void>();
  const resolve: Resolve = async () => {
    await lookup.promise;
    return { kind: 'resolved', addresses: ['127.0.0.1'] };
  };
  const policy = () => {
    look('policy');
    return true;
  };
  const memory = {
    open: () => {
      look('request');
      return {
        reserve: () => {
          look('field');
          return true;
        },
        close: () => look('verdict'),
      };
    },
  };
  const run = async () => {
    await new Promise((done) => setImmediate(done));
    return { kind: 'exited' as const, exitCode: 0, output: '' };
  };
  const resolveSecret = async () => {
    await new Promise((done) => setImmediate(done));
    look('secret');
    return { kind: 'value' as const, value: 'x' };
  };
  const probers = proberRegistry({
    dial: guardedDialer({ resolve, policy, clock }),
    ...{ clock, run, memory },
    secrets: { resolve: resolveSecret, refusal: () => undefined },
  });
  return {
    seen,
    current,
    attribution,
    answerLookups: lookup.resolve,
    async probe(name: string, request: ProbeRequest): Promise<string> {
      const work = attribution.start(name);
      const ignore = () => undefined;
      const permit = { closing: ignore, opened: () => ignore, refused: ignore, resumes: work.resumes };
      const attempt = await (request.kind === 'tcp'
        ? probers.tcp(request, permit)
        : probers.http(request as never, permit));
      look(`end of ${name}`);
      work.end();
      return attempt.outcome;
    },
  };
}

type Kind = 'http' | 'https' | 'h2';

async function serving(t: TestContext, kind: Kind): Promise<number> {
  const certificate = localhostCertificate();
  const servers = {
    http: () => createServer(answerSlowly),
    https: () => createTlsServer(certificate, answerSlowly),
    h2: () => createSecureServer(certificate, (_, response) => response.writeHead(200, { location: '/x' }).end('ok')),
  };
  return portOf(t, listenWith(servers[kind](), '127.0.0.1'));
}

const requestOf = (kind: Kind, port: number, headers: readonly (readonly [string, string])[] = []): ProbeRequest => ({
  kind: 'http',
  url: `${kind === 'http' ? 'http' : 'https'}://localhost:${port}/`,
  headers,
  hostOverride: '',
  timeoutMs: 10_000,
});

describe('the loop works for a probe', () => {
  for (const kind of ['http', 'https', 'h2'] as const)
    test(`of ${kind} in each of its callbacks, and for no probe in between`, async (t) => {
      const port = await serving(t, kind);
      const world = watchedProbers();
      const names = Array.from({ length: 8 }, (_, at) => `probe ${at}`);
      const probing = names.map((name) => world.probe(name, requestOf(kind, port)));
      const between = new Set<string>();
      let isOver = false;
      const lookBetween = () => {
        between.add(world.current());
        if (!isOver) setImmediate(lookBetween);
      };
      setImmediate(lookBetween);
      world.answerLookups();
      assert.deepEqual(await Promise.all(probing), Array(names.length).fill('success'));
      isOver = true;
      assert.deepEqual([...between], ['']);
      for (const name of names) {
        const at = world.seen.filter((look) => look.name === name).map((look) => look.at);
        // Both addresses: the one that is dialled, and the peer's. The fields of one answer come in two parts.
        assert.deepEqual(at.slice(0, 3), ['request', 'policy', 'policy'], name);
        // Over HTTP/2 the field is too short to be counted.
        assert.ok(kind === 'h2' || at.includes('field'), `${name}: ${at}`);
        assert.deepEqual(at.slice(-1), [`end of ${name}`]);
      }
      assert.deepEqual(new Set(world.seen.map(({ name }) => name)), new Set(names));
    });

  test('whose secret took a while', async (t) => {
    const port = await serving(t, 'http');
    const world = watchedProbers();
    world.answerLookups();
    await world.probe('secretive', requestOf('http', port, [['X-Token', 'env:TOKEN']]));
    const own = world.seen.filter(({ at }) => at !== 'secret');
    assert.deepEqual(new Set(own.map(({ name }) => name)), new Set(['secretive']));
  });

  test('whose timer runs', async () => {
    const { attribution, current } = watchedProbers();
    const clock = attributedClock(systemClock, attribution);
    const seen: string[] = [];
    const timers = ['first', 'second'].map(
      (name) =>
        new Promise<void>((resolve) => {
          attribution.start(name);
          clock.setTimer(1, () => {
            seen.push(current());
            resolve();
          });
        }),
    );
    await Promise.all(timers);
    assert.deepEqual(seen, ['first', 'second']);
  });

  test('no more once it has ended, also if an event of its socket comes late', () => {
    const { attribution, current } = watchedProbers();
    const ended = attribution.start('ended');
    ended.end();
    ended.resumes();
    assert.equal(current(), '');
    const next = attribution.start('next');
    ended.resumes();
    ended.end();
    assert.equal(current(), 'next');
    next.end();
    assert.equal(current(), '');
  });

  test('without a name where there are more than can be in flight', () => {
    const { attribution, current } = watchedProbers();
    const works = Array.from({ length: 1_100 }, (_, at) => attribution.start(`${at}`));
    assert.equal(current(), '');
    works[0]?.resumes();
    works.at(-1)?.resumes();
    assert.equal(current(), '');
    for (const work of works) work.end();
    assert.equal(current(), '');
    attribution.start('again');
    assert.equal(current(), 'again');
  });
});
