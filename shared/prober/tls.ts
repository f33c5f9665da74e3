/** TLS as kubelet's HTTP probe speaks it: no certificate is verified, 1.2 at least, HTTP/2 offered. */
import { constants } from 'node:crypto';
import type { Socket } from 'node:net';
import { connect, createSecureContext, DEFAULT_CIPHERS, type SecureContext, type TLSSocket } from 'node:tls';
import { type Clock, systemClock } from '../lib/clock.ts';
import { attribute, resumesOf } from '../net/attributed-socket.ts';
import { BelowTls, handshakeTooLong } from '../net/below-tls.ts';
import { tlsWatch, tooMuchBelowTls } from '../net/tls-watch.ts';
import type { Deadline } from './deadline.ts';
import { serverName } from './host-name.ts';
import { keptMessage } from './kept-memory.ts';
import type { Resumption, TlsSessions } from './tls-sessions.ts';

export type Secured =
  | {
      readonly kind: 'secured';
      readonly socket: TLSSocket;
      readonly protocol: 'h2' | 'http/1.1';
      readonly tlsMs: number;
      /** Present if the server has resumed a session. */
      readonly resumed?: Resumption;
    }
  | {
      readonly kind: 'failed';
      readonly failureClass: TlsFailureClass;
      readonly message: string;
      /** A session was offered, so the failure may be due to it: a full handshake, on another connection, decides. */
      readonly isRetried?: true;
    };

/** `PROBER`: the handshake exceeds the length that the prober reads. */
type TlsFailureClass = 'TLS' | 'TIMEOUT' | 'CONNECT_RESET' | 'PROBER';

export type SecureOptions = {
  readonly hostname: string;
  readonly clock: Clock;
  readonly deadline: Deadline;
  /** Absent: every handshake is a full one. */
  readonly sessions?: TlsSessions | undefined;
};

/** Without the post-quantum groups, which cost a sixth more: with an unverified peer there is no secrecy to protect. */
const ecdhCurve = 'X25519:P-256:P-384:P-521';

/** In TLS wire format: each name after its length. Given as names, Node would encode them for each connection. */
const protocols = Buffer.from('\x02h2\x08http/1.1', 'latin1');

let sharedContext: SecureContext | undefined;

/**
 * Creating a context costs a thousand times what using it does. Old key sizes pass, because no certificate is verified
 * anyway.
 */
function secureContext(): SecureContext {
  sharedContext ??= createSecureContext({
    minVersion: 'TLSv1.2',
    // No roots: nothing is verified against them, and Node would describe each certificate that they accept.
    ca: [],
    ecdhCurve,
    ciphers: `${DEFAULT_CIPHERS}:@SECLEVEL=1`,
    // A server could demand handshake after handshake. Go's client refuses the first one too.
    secureOptions: constants.SSL_OP_NO_RENEGOTIATION,
  });
  return sharedContext;
}

/** What was not taken yet stays in the kernel. */
const untakenInKernel = { highWaterMark: 1 } as const;

const ofProcess = tlsWatch(systemClock);

/** Takes ownership of `socket`: on failure it is destroyed. Never throws. */
export function secure(socket: Socket, { hostname, clock, deadline, sessions }: SecureOptions): Promise<Secured> {
  const startMs = clock.monotonicMs();
  const resumption = sessions?.open(`${socket.remoteAddress} ${socket.remotePort} ${hostname}`);
  const servername = serverName(hostname);
  const below = ofProcess.isTrusted(socket) ? undefined : new BelowTls(socket);
  const secured = connect({
    socket: below ?? socket,
    ...untakenInKernel,
    secureContext: secureContext(),
    ALPNProtocols: protocols,
    rejectUnauthorized: false,
    ...(servername !== undefined && { servername }),
    ...(resumption?.session && { session: resumption.session }),
  });
  if (resumption) secured.on('session', resumption.keep);
  const watched = below ? undefined : ofProcess.watch(socket, secured);
  const resumes = resumesOf(socket);
  attribute(secured, resumes);
  let offered = resumption?.session && resumption;
  return new Promise((resolve) => {
    const fail = (failureClass: TlsFailureClass, message: string) => {
      resumes();
      secured.destroy();
      offered?.failed();
      resolve({ kind: 'failed', failureClass, message, ...(offered && { isRetried: true }) });
    };
    const failTooLong = () => fail('PROBER', keptMessage);
    // Stays for the socket's life, like the dialer's: a late error must not end the process.
    secured.on('error', (error) => (watched?.shaken() === false ? failTooLong() : fail(...tlsProblem(error))));
    (below ?? socket).on('error', (error) => secured.destroy(error));
    secured.once('close', () => {
      watched?.end();
      fail('TLS', 'EOF');
    });
    deadline.whenOver(() => fail('TIMEOUT', handshakeTimeout));
    secured.once('secureConnect', () => {
      if (watched?.shaken() === false) return failTooLong();
      resumes();
      if (below) {
        below.secured();
        ofProcess.trust(socket);
      }
      offered = undefined;
      const protocol = secured.alpnProtocol === 'h2' ? 'h2' : 'http/1.1';
      const resumed = resumption && secured.isSessionReused() ? { resumed: resumption } : {};
      resolve({ kind: 'secured', socket: secured, protocol, tlsMs: clock.monotonicMs() - startMs, ...resumed });
    });
  });
}

const handshakeTimeout = 'net/http: TLS handshake timeout (Client.Timeout exceeded while awaiting headers)';

/** OpenSSL's codes in Go's words. */
const texts: Readonly<Record<string, string>> = {
  ERR_SSL_WRONG_VERSION_NUMBER: 'tls: first record does not look like a TLS handshake',
  ERR_SSL_PACKET_LENGTH_TOO_LONG: 'tls: first record does not look like a TLS handshake',
  ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION: 'remote error: tls: protocol version not supported',
  ERR_SSL_UNSUPPORTED_PROTOCOL: 'tls: server selected unsupported protocol version',
  ERR_SSL_SSLV3_ALERT_HANDSHAKE_FAILURE: 'remote error: tls: handshake failure',
};

function tlsProblem({ code = 'EUNKNOWN' }: NodeJS.ErrnoException): readonly [TlsFailureClass, string] {
  if (code === handshakeTooLong || code === tooMuchBelowTls) return ['PROBER', keptMessage];
  if (code === 'ECONNRESET') return ['CONNECT_RESET', 'read: connection reset by peer'];
  return [
    'TLS',
    texts[code] ??
      `tls: ${code
        .replace(/^ERR_SSL_/, '')
        .replaceAll('_', ' ')
        .toLowerCase()}`,
  ];
}
