/** Plays the vector of its argument in the network in which it was started, and prints the outcome (wire-room.ts). */
import { execFileSync } from 'node:child_process';
import { createServer, type Server, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { createServer as createTlsServer, type TLSSocket } from 'node:tls';
import { resolveProbeRequest } from '../../shared/core/spec/probe-request.ts';
import type { Attempt } from '../../shared/core/spec/types.ts';
import { systemClock as clock } from '../../shared/lib/clock.ts';
import { guardedDialer } from '../../shared/net/dialer.ts';
import { dialPolicy } from '../../shared/net/policy.ts';
import { resolver } from '../../shared/net/resolver.ts';
import { grpcProber } from '../../shared/prober/grpc/grpc.ts';
import { httpProber } from '../../shared/prober/http/http.ts';
import type { Prober } from '../../shared/prober/prober.ts';
import { tcpProber } from '../../shared/prober/tcp.ts';
import { localhostCertificate } from '../support/certificate.ts';
import { startDnsServer } from '../support/dns-server.ts';
import { healthService, startHttp2 } from '../support/grpc-server.ts';
import { listenWith } from '../support/tcp-server.ts';

export type RoomVector = {
  /** Commands of ip(8). */
  readonly network: readonly string[];
  /** Lines of the hosts file. */
  readonly hosts: readonly string[];
  readonly dns?: { readonly a: readonly string[]; readonly aaaa: readonly string[]; readonly aaaaDelayMs: number };
  readonly servers: readonly RoomServer[];
  /** Commands of ip(8), so much later. */
  readonly later?: readonly { readonly ms: number; readonly ip: string }[];
  readonly probe: {
    readonly kind: 'http' | 'tcp' | 'grpc';
    readonly scheme?: string;
    readonly host: string;
    readonly timeoutMs: number;
  };
  /** The time is part of the outcome. */
  readonly timed?: boolean;
  readonly expectAnyOf: readonly Omit<RoomOutcome, 'failureClass'>[];
};

type RoomServer = {
  readonly kind: 'http' | 'tls' | 'grpc' | 'silent';
  readonly address: string;
  readonly status?: number;
};

export type RoomOutcome = {
  readonly result: string;
  readonly output: string;
  readonly error: string | null;
  /** Whole seconds until then, if the vector asks. */
  readonly seconds?: number;
  /** Addresses of the servers that have accepted a connection. */
  readonly connected: readonly string[];
  readonly failureClass?: string;
};

const port = 8080;
const connected = new Set<string>();

async function start({ kind, address, status = 200 }: RoomServer): Promise<void> {
  const host = address;
  const took = (server: Server) => server.on('connection', () => connected.add(address));
  switch (kind) {
    case 'grpc':
      await startHttp2({}, healthService({ statuses: { '': status === 200 ? 'SERVING' : 'NOT_SERVING' } }), {
        host,
        port,
        accepted: () => connected.add(address),
      });
      return;
    case 'silent':
      await listenWith(took(createServer()), host, port);
      return;
    case 'http':
      await listenWith(took(createServer((socket) => answer(socket, status, () => `from ${address}`))), host, port);
      return;
    case 'tls':
      await listenWith(took(createTlsServer(localhostCertificate(), (socket) => answerNamed(socket))), host, port);
  }
}

const answerNamed = (socket: TLSSocket) =>
  answer(socket, 200, (head) => {
    const host = /^Host: (.*)$/m.exec(head)?.[1] ?? '';
    return `server name ${JSON.stringify(socket.servername || '')}, host ${JSON.stringify(host.trimEnd())}`;
  });

function answer(socket: Socket, status: number, bodyFor: (head: string) => string): void {
  let head = '';
  socket.on('error', () => undefined);
  socket.on('data', (bytes) => {
    head += bytes.toString('latin1');
    if (!head.includes('\r\n\r\n')) return;
    const body = bodyFor(head);
    socket.end(`HTTP/1.1 ${status} Room\r\nConnection: close\r\nContent-Length: ${body.length}\r\n\r\n${body}`);
  });
}

function attempt({ kind, scheme, host, timeoutMs }: RoomVector['probe']): Promise<Attempt> {
  const dial = guardedDialer({ resolve: resolver({ clock }), policy: dialPolicy({ mode: 'local' }), clock });
  const handlers = {
    http: { httpGet: { path: '/', port, ...(scheme !== undefined && { scheme }) } },
    tcp: { tcpSocket: { port } },
    grpc: { grpc: { port } },
  };
  const target = { namespace: 'default', name: 'target', uid: 'uid' };
  const resolved = resolveProbeRequest(
    { ...handlers[kind], timeoutSeconds: timeoutMs / 1000 },
    { target, host, container: { name: 'main' } },
  );
  if (resolved.kind === 'error') throw new Error(resolved.error);
  const probers = { http: httpProber, tcp: tcpProber, grpc: grpcProber };
  return (probers[kind]({ dial, clock }) as Prober)(resolved.request);
}

/** A connection that was made may not be accepted yet. */
const acceptMs = 50;
/** A timer may be a little early. */
const slackMs = 100;

const vector = JSON.parse(process.argv[2] ?? '') as RoomVector;
for (const server of vector.servers) await start(server);
const { dns } = vector;
if (dns) await startDnsServer(() => ({ kind: 'addresses', ...dns }), { address: '127.0.0.1', port: 53 });
for (const { ms, ip } of vector.later ?? []) setTimeout(() => execFileSync('ip', ip.split(' ')), ms);
const startMs = performance.now();
const { outcome, output, error, failureClass } = await attempt(vector.probe);
const seconds = Math.floor((performance.now() - startMs + slackMs) / 1000);
await sleep(acceptMs);
const seen: RoomOutcome = {
  result: outcome,
  output,
  error: error ?? null,
  ...(vector.timed && { seconds }),
  connected: [...connected].sort(),
  ...(failureClass && { failureClass }),
};
process.stdout.write(JSON.stringify(seen), () => process.exit());
