/** TLS as kubelet's HTTP probe speaks it: no certificate is verified, 1.2 at least, HTTP/2 offered. */

import { constants } from 'node:crypto';
import type { Socket } from 'node:net';
import { connect, createSecureContext, type SecureContext, type TLSSocket } from 'node:tls';
import { type Clock, systemClock } from '../../lib/clock.ts';
import { attribute, resumesOf } from '../../net/attributed-socket.ts';
import { BelowTls, handshakeTooLong, tlsWatch, tooMuchBelowTls } from '../../net/tls-guard.ts';
import { serverCertificatesProblem } from '../../x509/server-certificates.ts';
import { awaitingHeadTimeout, type Deadline, startDeadline } from '../deadline.ts';
import { serverName } from '../host-name.ts';
import { keptMessage } from '../kept-memory.ts';
import { alertText, inWords } from './alert.ts';
import { certificateChecks } from './certificate-check.ts';
import { handshakeSecret, sentCertificates } from './sent-certificates.ts';
import type { Resumption, TlsSessions } from './sessions.ts';

export type Secured =
  | {
      readonly kind: 'secured';
      readonly socket: TLSSocket;
      readonly protocol: 'h2' | 'http/1.1';
      readonly tlsMs: number;
      /** Undefined unless the server has resumed a session. */
      readonly resumed: Resumption | undefined;
    }
  | {
      readonly kind: 'failed';
      readonly failureClass: TlsFailureClass;
      readonly message: string;
      /**
       * The next handshake, on another connection, decides: it is a full one if a session was offered, to which the
       * failure may be due; and the certificates are read if they were not.
       */
      readonly isRetried: boolean;
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

/**
 * What kubelet's client offers, in its order: the defaults of Go 1.26, which kubelet v1.36 is built with
 * (crypto/tls/defaults.go). A server that takes nothing of it refuses kubelet, so it has to refuse this client.
 */
const ciphers = [
  'ECDHE-ECDSA-AES128-GCM-SHA256',
  'ECDHE-RSA-AES128-GCM-SHA256',
  'ECDHE-ECDSA-AES256-GCM-SHA384',
  'ECDHE-RSA-AES256-GCM-SHA384',
  'ECDHE-ECDSA-CHACHA20-POLY1305',
  'ECDHE-RSA-CHACHA20-POLY1305',
  'ECDHE-ECDSA-AES128-SHA',
  'ECDHE-RSA-AES128-SHA',
  'ECDHE-ECDSA-AES256-SHA',
  'ECDHE-RSA-AES256-SHA',
  'TLS_AES_128_GCM_SHA256',
  'TLS_AES_256_GCM_SHA384',
  'TLS_CHACHA20_POLY1305_SHA256',
  // RSA keys of 1,024 bits pass, as in Go.
  '@SECLEVEL=1',
].join(':');

/** `*`: groups of which the first message has a key share. */
const groups = '*X25519MLKEM768:SecP256r1MLKEM768:SecP384r1MLKEM1024:*X25519:P-256:P-384:P-521';

const signatureAlgorithms = [
  'rsa_pss_rsae_sha256',
  'ecdsa_secp256r1_sha256',
  'ed25519',
  'rsa_pss_rsae_sha384',
  'rsa_pss_rsae_sha512',
  'rsa_pkcs1_sha256',
  'rsa_pkcs1_sha384',
  'rsa_pkcs1_sha512',
  'ecdsa_secp384r1_sha384',
  'ecdsa_secp521r1_sha512',
].join(':');

/** In TLS wire format: each name after its length. Given as names, Node would encode them for each connection. */
const protocols = Buffer.from('\x02h2\x08http/1.1', 'latin1');

/** Creating a context costs a thousand times what using it does. */
const newContext = (): SecureContext =>
  createSecureContext({
    minVersion: 'TLSv1.2',
    // No roots: nothing is verified against them, and Node would describe each certificate that they accept.
    ca: [],
    ciphers,
    ecdhCurve: groups,
    sigalgs: signatureAlgorithms,
    // A server could demand handshake after handshake. Go's client refuses the first one too. A server of TLS 1.2 that
    // does not know secure renegotiation (RFC 5746) is taken, as by Go. Go does not offer to encrypt before the MAC.
    secureOptions:
      constants.SSL_OP_NO_RENEGOTIATION | constants.SSL_OP_LEGACY_SERVER_CONNECT | constants.SSL_OP_NO_ENCRYPT_THEN_MAC,
  });

/** For `BelowTls` a context of its own: in one whose secrets are logged once, OpenSSL logs those of all connections. */
const contexts: { own?: SecureContext; logged?: SecureContext } = {};

/** What was not taken yet stays in the kernel. */
const untakenInKernel = { highWaterMark: 1 } as const;

const ofProcess = tlsWatch(systemClock);
const certificates = certificateChecks();

/** Takes ownership of `socket`: on failure it is destroyed. Never throws. */
export function secure(socket: Socket, options: SecureOptions): Promise<Secured> {
  if (!ofProcess.isTrusted(socket)) return shakeHands(socket, false, options);
  if (ofProcess.takePlace()) return shakeHands(socket, true, options);
  return ofProcess.whenPlace(socket).then((hasPlace) => shakeHands(socket, hasPlace, options));
}

/** `byItself`: OpenSSL reads the connection, which has a place among those that it reads. */
function shakeHands(socket: Socket, byItself: boolean, options: SecureOptions): Promise<Secured> {
  const { hostname, clock, deadline, sessions } = options;
  const startMs = clock.monotonicMs();
  const resumption = sessions?.open(`${socket.remoteAddress} ${socket.remotePort} ${hostname}`);
  const below = byItself ? undefined : new BelowTls(socket);
  const secured = startTls(socket, below, { hostname, session: resumption?.session });
  const sent = below && watchCertificates(secured, below);
  if (resumption) secured.on('session', resumption.keep);
  const watched = below ? undefined : ofProcess.watch(socket, secured);
  const resumes = resumesOf(socket);
  attribute(secured, resumes);
  let offered = resumption?.session && resumption;
  let isAskedAgain = false;
  let endWait = (): void => undefined;
  return new Promise((resolve) => {
    const fail = (failureClass: TlsFailureClass, message: string) => {
      endWait();
      resumes();
      secured.destroy();
      offered?.failed();
      const isRetried = isAskedAgain || offered !== undefined;
      resolve({ kind: 'failed', failureClass, message, isRetried });
    };
    const failTooLong = () => fail('PROBER', keptMessage);
    // Stays for the socket's life, like the dialer's: a late error must not end the process.
    secured.on('error', (error) => {
      if (watched?.shaken() === false) return failTooLong();
      const isRefused = isRefusedCertificate(error, secured.getProtocol());
      // On another connection, where the certificate is read, it shows whether Go takes it.
      isAskedAgain ||= isRefused && below === undefined;
      if (isRefused) ofProcess.forget(socket);
      if ('code' in error && error.code === handshakeTooLong) ofProcess.distrust(socket);
      fail(...tlsProblem(error, { isRefused, sent: sent?.() }));
    });
    (below ?? socket).on('error', (error) => secured.destroy(error));
    secured.once('close', () => {
      watched?.end();
      fail('TLS', 'EOF');
    });
    endWait = limitTime({ clock, deadline }, (message) => fail('TIMEOUT', message));
    secured.once('secureConnect', () => {
      endWait();
      if (watched?.shaken() === false) return failTooLong();
      const problem = certificateProblem(socket, secured, sent);
      if (problem !== undefined) {
        resumption?.failed();
        return fail('TLS', problem);
      }
      resumes();
      if (below) {
        below.secured();
        ofProcess.trust(socket);
      }
      offered = undefined;
      const protocol = secured.alpnProtocol === 'h2' ? 'h2' : 'http/1.1';
      const resumed = secured.isSessionReused() ? resumption : undefined;
      resolve({ kind: 'secured', socket: secured, protocol, tlsMs: clock.monotonicMs() - startMs, resumed });
    });
  });
}

type StartOptions = { readonly hostname: string; readonly session: Buffer | undefined };

function startTls(socket: Socket, below: BelowTls | undefined, { hostname, session }: StartOptions): TLSSocket {
  const kind = below ? 'logged' : 'own';
  contexts[kind] ??= newContext();
  const servername = serverName(hostname);
  return connect({
    socket: below ?? socket,
    ...untakenInKernel,
    secureContext: contexts[kind],
    ALPNProtocols: protocols,
    rejectUnauthorized: false,
    ...(servername !== undefined && { servername }),
    ...(session && { session }),
  });
}

type SentCertificates = () => readonly Buffer[] | undefined;

function watchCertificates(secured: TLSSocket, below: BelowTls): SentCertificates {
  let secret: Buffer | undefined;
  secured.on('keylog', (line) => {
    secret ??= handshakeSecret(line);
  });
  return () => sentCertificates(below.handshake, secret);
}

/** In a resumed session the server sends no certificate. */
function certificateProblem(socket: Socket, secured: TLSSocket, sent?: SentCertificates): string | undefined {
  if (secured.isSessionReused()) return undefined;
  const { problem, isPartial } = certificates.check(secured, sent?.());
  if (isPartial || problem !== undefined) ofProcess.forget(socket);
  return problem;
}

/** Of Go's default transport, which kubelet's takes over: utilnet.SetTransportDefaults in apimachinery. */
const handshakeMsMax = 10_000;

/**
 * Calls back with Go's text when the handshake or the probe has taken too long. At the end of the probe Go says one of
 * three texts by chance; this is the one that it says of every other wait for an answer. Returns what ends the wait.
 */
function limitTime({ clock, deadline }: Pick<SecureOptions, 'clock' | 'deadline'>, fail: (message: string) => void) {
  deadline.whenOver(() => fail(awaitingHeadTimeout));
  if (deadline.atMs - clock.monotonicMs() <= handshakeMsMax) return () => undefined;
  const ofHandshake = startDeadline(clock, handshakeMsMax);
  ofHandshake.whenOver(() => fail('net/http: TLS handshake timeout'));
  return ofHandshake.cancel;
}

/** OpenSSL's codes in Go's words. */
const texts: Readonly<Record<string, string>> = {
  ERR_SSL_WRONG_VERSION_NUMBER: 'tls: first record does not look like a TLS handshake',
  ERR_SSL_PACKET_LENGTH_TOO_LONG: 'tls: first record does not look like a TLS handshake',
  ERR_SSL_UNSUPPORTED_PROTOCOL: 'tls: server selected unsupported protocol version',
};

/** Go's words for a signature that its own verification would not take either, by part of OpenSSL or code. */
const signatureTexts: Readonly<Record<string, string>> = {
  'rsa routines': 'invalid signature by the server certificate: crypto/rsa: verification error',
  ERR_SSL_BAD_SIGNATURE: 'invalid signature by the server certificate: ECDSA verification failure',
  ERR_SSL_PROVIDER_SIGNATURE_FAILURE: 'invalid signature by the server certificate: ECDSA verification failure',
  ERR_SSL_WRONG_CURVE: 'certificate used with invalid signature algorithm',
  ERR_SSL_WRONG_SIGNATURE_TYPE: 'certificate used with invalid signature algorithm',
};

/** Node's, of an error of OpenSSL. */
type TlsError = NodeJS.ErrnoException & { readonly library?: string };

/**
 * OpenSSL does not take the server's certificate: it does not read it, or asks of TLS 1.2 what Go does not ask: a key
 * usage, or a curve that the client offers. Go may take it or not.
 */
function isRefusedCertificate({ code = '', library = '' }: TlsError, protocol: string | null): boolean {
  if (library === 'asn1 encoding routines') return true;
  if (library === 'digital envelope routines') return code === 'ERR_SSL_DECODE_ERROR';
  return protocol === 'TLSv1.2' && (code === 'ERR_SSL_ECC_CERT_NOT_FOR_SIGNING' || code === 'ERR_SSL_WRONG_CURVE');
}

type HandshakeProblem = {
  readonly isRefused: boolean;
  /** The server's certificates, if they were read. What Go says of them comes first. */
  readonly sent: readonly Buffer[] | undefined;
};

function tlsProblem(
  { code = 'EUNKNOWN', library = '' }: TlsError,
  { isRefused, sent }: HandshakeProblem,
): readonly [TlsFailureClass, string] {
  if (code === handshakeTooLong || code === tooMuchBelowTls) return ['PROBER', keptMessage];
  const problem = sent && serverCertificatesProblem(sent);
  if (problem !== undefined) return ['TLS', problem];
  if (code === 'ECONNRESET') return ['CONNECT_RESET', 'read: connection reset by peer'];
  const reason = inWords(code.replace(/^ERR_SSL_/, ''));
  if (sent && isRefused)
    return ['PROBER', `the server's certificate is one that kubelet takes and OpenSSL does not: ${reason}`];
  const signature = signatureTexts[library] ?? signatureTexts[code];
  if (signature !== undefined) return ['TLS', `tls: ${signature}`];
  return ['TLS', alertText(code) ?? texts[code] ?? `tls: ${reason}`];
}
