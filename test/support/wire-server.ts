/**
 * HTTP servers below any HTTP library: they read a request up to its empty line and then send exactly what their
 * script says.
 */
import { createSecureServer } from 'node:http2';
import { createServer, type Server, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { createServer as createTlsServer, type TlsOptions } from 'node:tls';
import { type Certificate, selfSigned } from './certificate.ts';
import { listenWith, type RunningServer, startTcpServer } from './tcp-server.ts';
import { startTlsPeer, type TlsPeer } from './tls-peer.ts';

export type WireAction = {
  readonly send?: string;
  readonly repeat?: number;
  readonly sendBase64?: string;
  readonly sleepMs?: number;
  /** Waits 30 ms, then RST. */
  readonly reset?: boolean;
  /** Until the client leaves. */
  readonly hold?: boolean;
};

export type WireTls = 'self-signed' | 'expired' | 'wrong-name' | 'tls1.2-only' | 'tls1.0-only';

export type WireServer = {
  readonly kind:
    | 'raw'
    | 'closed'
    | 'backlog-full'
    | 'accept-silent'
    | 'accept-close'
    | 'speak-first'
    | 'http2'
    | 'peer';
  readonly tls?: WireTls;
  /** Of the kind `peer`. */
  readonly peer?: TlsPeer;
  /** By request target; `*`: any other. */
  readonly routes?: { readonly [target: string]: readonly WireAction[] | null };
};

export type SeenRequest = {
  readonly line: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
};

export type WireOptions = {
  /** Called with each request before it is answered. */
  readonly seen: (request: SeenRequest) => void;
  /** Fills in what is known only once everything listens. */
  readonly fill: (text: string) => string;
};

const host = '127.0.0.1';

const noOptions: WireOptions = { seen: () => undefined, fill: (text) => text };

/** `options.fill` is called only after the server listens. */
export function startWireServer(server: WireServer, options = noOptions): Promise<RunningServer> {
  switch (server.kind) {
    case 'raw':
      return listenWith(
        rawServer(server, (socket) => answerRequest(socket, server, options)),
        host,
      );
    case 'speak-first':
      return listenWith(
        rawServer(server, (socket) => speak(socket, server, options)),
        host,
      );
    case 'http2':
      return listenWith(http2Server(options), host);
    case 'peer':
      if (!server.peer) throw new Error('a peer is missing');
      return startTlsPeer(server.peer);
    case 'closed':
    case 'backlog-full':
    case 'accept-silent':
    case 'accept-close':
      return startTcpServer(server.kind, host);
  }
}

function rawServer({ tls }: WireServer, serve: (socket: Socket) => void): Server {
  // Half-open: a client that ends its side must not end ours.
  if (tls === undefined) return createServer({ allowHalfOpen: true }, serve);
  const server = createTlsServer({ ...tlsOptions(tls), allowHalfOpen: true }, serve);
  server.on('tlsClientError', () => undefined);
  return server;
}

function answerRequest(socket: Socket, { routes = {} }: WireServer, { seen, fill }: WireOptions): void {
  let text = '';
  socket.on('error', () => undefined);
  const onData = (bytes: Buffer) => {
    text += bytes.toString('latin1');
    const end = text.indexOf('\r\n\r\n');
    if (end < 0) return;
    socket.off('data', onData);
    socket.resume();
    const request = parseRequest(text.slice(0, end));
    seen(request);
    const target = request.line.split(' ')[1] ?? '';
    void perform(socket, (target in routes ? routes[target] : routes['*']) ?? [], fill);
  };
  socket.on('data', onData);
}

function speak(socket: Socket, { routes = {} }: WireServer, { fill }: WireOptions): void {
  socket.on('error', () => undefined);
  socket.resume();
  void perform(socket, routes['*'] ?? [], fill);
}

function parseRequest(text: string): SeenRequest {
  const [line = '', ...fields] = Buffer.from(text, 'latin1').toString().split('\r\n');
  return { line, headers: fields.map((field) => splitField(field)) };
}

function splitField(field: string): readonly [string, string] {
  const colon = field.indexOf(':');
  return [field.slice(0, colon), field.slice(colon + 1).replace(/^ /, '')];
}

async function perform(socket: Socket, actions: readonly WireAction[], fill: (text: string) => string): Promise<void> {
  for (const action of actions) {
    if (socket.destroyed || action.hold) return;
    if (action.send !== undefined) socket.write(fill(action.send).repeat(action.repeat ?? 1));
    if (action.sendBase64 !== undefined) socket.write(Buffer.from(action.sendBase64, 'base64'));
    if (action.sleepMs !== undefined) await sleep(action.sleepMs);
    if (action.reset) return reset(socket);
  }
  socket.end();
}

const beforeResetMs = 30;

async function reset(socket: Socket): Promise<void> {
  await sleep(beforeResetMs);
  socket.resetAndDestroy();
}

function http2Server({ seen }: WireOptions): Server {
  const server = createSecureServer(certificate('self-signed'), (request, response) => {
    const { ':authority': authority = '', accept = '', 'user-agent': agent = '' } = request.headers;
    const headers = Object.entries({ ':authority': authority, accept, 'user-agent': agent });
    seen({ line: `${request.method} ${request.url} HTTP/${request.httpVersion}`, headers });
    response.end('h2 ok');
  });
  server.on('sessionError', () => undefined);
  return server;
}

function tlsOptions(tls: WireTls): TlsOptions {
  switch (tls) {
    case 'self-signed':
    case 'expired':
    case 'wrong-name':
      return certificate(tls);
    case 'tls1.2-only':
      return { ...certificate('self-signed'), minVersion: 'TLSv1.2', maxVersion: 'TLSv1.2' };
    case 'tls1.0-only':
      return { ...certificate('self-signed'), minVersion: 'TLSv1', maxVersion: 'TLSv1', ciphers: 'DEFAULT@SECLEVEL=0' };
  }
}

type CertificateKind = 'self-signed' | 'expired' | 'wrong-name';

const certificates = new Map<CertificateKind, Certificate>();

function certificate(kind: CertificateKind): Certificate {
  const made = certificates.get(kind) ?? makeCertificate(kind);
  certificates.set(kind, made);
  return made;
}

function makeCertificate(kind: CertificateKind): Certificate {
  return selfSigned({
    hostname: kind === 'wrong-name' ? 'elsewhere.test' : 'localhost',
    notBefore: new Date('2020-01-01'),
    notAfter: new Date(kind === 'expired' ? '2021-01-01' : '2049-01-01'),
  });
}
