/** A real HTTPS server that records which handshakes offered a session and which were resumed. */
import { createSecureServer } from 'node:http2';
import { createServer, type Socket } from 'node:net';
import type { TestContext } from 'node:test';
import { createServer as createTlsServer, type TLSSocket, type TlsOptions, type Server as TlsServer } from 'node:tls';
import { localhostCertificate } from './certificate.ts';
import { listenWith, portOf } from './tcp-server.ts';

export type ResumingOptions = {
  readonly tls?: TlsOptions;
  readonly protocol?: 'http/1.1' | 'h2';
  /** Returns what a connection gets in place of TLS; undefined: TLS. `isOffered`: its handshake offers a session. */
  readonly breaks?: (isOffered: boolean) => ((socket: Socket) => void) | undefined;
  /** What a connection with a resumed session gets in place of an answer. */
  readonly onResumed?: (socket: TLSSocket) => void;
  /** Called once the request has come; ends the connection, or not. */
  readonly answer?: (socket: TLSSocket) => void;
};

export type ResumingServer = {
  readonly port: number;
  /** Whether a session was offered, for each connection. */
  readonly offered: boolean[];
  /** Whether a session was resumed, for each handshake that was completed. */
  readonly resumed: boolean[];
  /** Forgets the keys, so that no ticket of before is taken any more. */
  readonly forgetKeys: (keys: Buffer) => void;
};

/** Answers with success. */
export const fine = (socket: TLSSocket): void => void socket.end('HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nfine');

export async function resumingServer(t: TestContext, options: ResumingOptions = {}): Promise<ResumingServer> {
  const { breaks, onResumed } = options;
  const [offered, resumed]: [boolean[], boolean[]] = [[], []];
  const secure = secureServer(options);
  secure.on('tlsClientError', () => undefined);
  secure.prependListener('secureConnection', (socket) => {
    resumed.push(socket.isSessionReused());
    if (socket.isSessionReused()) onResumed?.(socket);
  });
  const front = createServer((socket) => {
    socket.once('data', (hello) => {
      const isOffered = offersSession(hello);
      offered.push(isOffered);
      const instead = breaks?.(isOffered);
      if (instead) return instead(socket);
      socket.pause();
      socket.unshift(hello);
      secure.emit('connection', socket);
    });
  });
  const port = await portOf(t, listenWith(front, '127.0.0.1'));
  return { port, offered, resumed, forgetKeys: (keys) => secure.setTicketKeys(keys) };
}

function secureServer({ tls = {}, protocol = 'http/1.1', answer = fine }: ResumingOptions): TlsServer {
  const settings = { ...localhostCertificate(), ...tls };
  if (protocol === 'h2') return createSecureServer(settings, (_, response) => void response.end('fine'));
  return createTlsServer(settings, (socket) => {
    socket.on('error', () => undefined);
    socket.once('data', () => answer(socket));
  });
}

/** The extensions that offer a session, in TLS 1.2 (with a ticket in it) and 1.3. */
const [sessionTicket, preSharedKey] = [35, 41];
/** Record and handshake headers, version and random number. */
const sessionIdAt = 5 + 4 + 2 + 32;

/** `hello`: a ClientHello in one record. */
function offersSession(hello: Buffer): boolean {
  const ciphersAt = sessionIdAt + 1 + hello.readUInt8(sessionIdAt);
  const compressionAt = ciphersAt + 2 + hello.readUInt16BE(ciphersAt);
  let at = compressionAt + 1 + hello.readUInt8(compressionAt) + 2;
  while (at + 4 <= hello.length) {
    const [type, length] = [hello.readUInt16BE(at), hello.readUInt16BE(at + 2)];
    if (type === preSharedKey || (type === sessionTicket && length > 0)) return true;
    at += 4 + length;
  }
  return false;
}
