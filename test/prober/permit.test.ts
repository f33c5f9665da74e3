import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { describe, type TestContext, test } from 'node:test';
import { newSocketBudget } from '../../shared/holder/probing/sockets.ts';
import { systemClock } from '../../shared/lib/clock.ts';
import type { Dial } from '../../shared/net/net.ts';
import { probe } from '../../shared/prober/probe.ts';
import { proberRegistry } from '../../shared/prober/registry.ts';
import { type GrpcServerSpec, startGrpcServer } from '../support/grpc-server.ts';
import { loopbackDial } from '../support/loopback-dial.ts';
import { noSecrets } from '../support/no-secrets.ts';
import { orderOnLoopback } from '../support/probe-order.ts';
import { portOf, startTcpServer, type TcpServerKind } from '../support/tcp-server.ts';
import { startWireServer, type WireServer } from '../support/wire-server.ts';

const clock = systemClock;

/** Every socket that a prober dials, as it stands when the next one is dialed and when the probe is over. */
function watchedProbers() {
  const dialed: Socket[] = [];
  const openAtDial: number[] = [];
  const open = () => dialed.filter(({ closed }) => !closed).length;
  const dial: Dial = async (request) => {
    const outcome = await loopbackDial(request);
    openAtDial.push(open());
    if (outcome.kind === 'connected') dialed.push(outcome.socket);
    return outcome;
  };
  const probers = proberRegistry({
    dial,
    clock,
    run: async () => ({ kind: 'denied', message: 'not here' }),
    secrets: noSecrets,
  });
  return { probers, open, openAtDial };
}

const ok = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';
const toItself = 'HTTP/1.1 302 Found\r\nLocation: /next\r\nContent-Length: 0\r\n\r\n';
type Start = (t: TestContext) => Promise<object>;

const wire =
  (server: WireServer, scheme?: 'HTTPS'): Start =>
  async (t) => ({
    httpGet: { port: await portOf(t, startWireServer(server)), path: '/', ...(scheme && { scheme }) },
  });
const tcp =
  (kind: TcpServerKind, handler: 'tcpSocket' | 'httpGet' | 'grpc' = 'tcpSocket'): Start =>
  async (t) => ({ [handler]: { port: await portOf(t, startTcpServer(kind, '127.0.0.1')) } });
const grpc =
  (spec: GrpcServerSpec): Start =>
  async (t) => ({ grpc: { port: await portOf(t, startGrpcServer(spec)) } });

const servers: { readonly [what: string]: Start } = {
  'TCP that connects': tcp('accept-silent'),
  'TCP that is refused': tcp('closed'),
  'TCP that is never accepted': tcp('backlog-full'),
  'HTTP that answers': wire({ kind: 'raw', routes: { '*': [{ send: ok }] } }),
  'HTTP that redirects': wire({ kind: 'raw', routes: { '/': [{ send: toItself }], '/next': [{ send: ok }] } }),
  'HTTP that redirects for ever': wire({ kind: 'raw', routes: { '*': [{ send: toItself }] } }),
  'HTTP that is silent': tcp('accept-silent', 'httpGet'),
  'HTTP whose body never ends': wire({
    kind: 'raw',
    routes: { '*': [{ send: 'HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nok' }, { hold: true }] },
  }),
  'HTTP that is reset': wire({ kind: 'raw', routes: { '*': [{ reset: true }] } }),
  'HTTPS that answers': wire({ kind: 'raw', tls: 'self-signed', routes: { '*': [{ send: ok }] } }, 'HTTPS'),
  'HTTPS over HTTP/2': wire({ kind: 'http2', tls: 'self-signed' }, 'HTTPS'),
  'HTTPS without TLS': wire({ kind: 'raw', routes: { '*': [{ send: ok }] } }, 'HTTPS'),
  'gRPC that serves': grpc({ kind: 'grpc-health', statuses: { '': 'SERVING' } }),
  'gRPC that is late': grpc({ kind: 'grpc-health', statuses: { '': 'SERVING' }, delayMs: 60_000 }),
  'gRPC that is refused, and tried again': tcp('closed', 'grpc'),
  'gRPC that is silent': tcp('accept-silent', 'grpc'),
};

describe('a prober has one socket open at a time, and its place is released when that has closed', () => {
  for (const [what, start] of Object.entries(servers))
    test(what, async (t) => {
      const handler = await start(t);
      const { probers, open, openAtDial } = watchedProbers();
      const socketBudget = newSocketBudget(clock);
      const place = socketBudget.take('steady', 1);
      const given = new Promise<number>((resolve) => {
        socketBudget.onFree(() => resolve(open()));
      });
      await probe({ probers, clock }, { ...orderOnLoopback, handler: { ...handler, timeoutSeconds: 1.2 } }, place);
      place.leave();
      assert.equal(await given, 0, 'sockets open as the place was released');
      assert.ok(openAtDial.length > 0 && openAtDial.every((count) => count === 0), `open at each dial: ${openAtDial}`);
    });
});
