/** The peers of the vectors about TLS: OpenSSL with any options, or a server that sends any bytes as certificates. */
import { generateKeyPairSync, type KeyPairKeyObjectResult } from 'node:crypto';
import { createServer, type TlsOptions } from 'node:tls';
import { type Certificate, certificateOf, keyPair } from './certificate.ts';
import { type ScriptedTls, startScriptedTls } from './scripted-tls-server.ts';
import { listenWith, type RunningServer } from './tcp-server.ts';

export type TlsPeer =
  | ({ readonly kind: 'scripted' } & ScriptedTls)
  | {
      readonly kind: 'openssl';
      /** Of the server's certificate; absent: it has none. */
      readonly key?: KeyKind;
      readonly options: TlsOptions;
    };

type KeyKind = 'rsa1024' | 'rsa2048' | 'rsa-pss' | 'ed25519' | 'ed448' | Curve;
type Curve = 'prime256v1' | 'secp384r1' | 'secp521r1' | 'secp224r1' | 'secp256k1' | 'brainpoolP256r1';

const answer = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';

/** Answers one request of each connection with `ok`. */
export function startTlsPeer(peer: TlsPeer): Promise<RunningServer> {
  if (peer.kind === 'scripted') return startScriptedTls(peer, answer);
  const certificate = peer.key && certificateWith(peer.key);
  const server = createServer({ ...certificate, ...peer.options }, (socket) => {
    socket.on('error', () => undefined);
    socket.once('data', () => socket.end(answer));
  });
  server.on('tlsClientError', () => undefined);
  return listenWith(server, '127.0.0.1');
}

const certificates = new Map<KeyKind, Certificate>();

function certificateWith(kind: KeyKind): Certificate {
  const made = certificates.get(kind) ?? makeCertificate(kind);
  certificates.set(kind, made);
  return made;
}

function makeCertificate(kind: KeyKind): Certificate {
  const { publicKey, privateKey } = keysOf(kind);
  const cert = certificateOf({
    subject: 'localhost',
    issuer: 'authority',
    notBefore: new Date('2020-01-01'),
    notAfter: new Date('2049-01-01'),
    spki: publicKey.export({ type: 'spki', format: 'der' }),
    extensions: [],
    signer: keyPair(),
  });
  return { key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(), cert };
}

function keysOf(kind: KeyKind): KeyPairKeyObjectResult {
  switch (kind) {
    case 'rsa1024':
      return generateKeyPairSync('rsa', { modulusLength: 1024 });
    case 'rsa2048':
      return generateKeyPairSync('rsa', { modulusLength: 2048 });
    case 'rsa-pss':
      return generateKeyPairSync('rsa-pss', { modulusLength: 2048 });
    case 'ed25519':
      return generateKeyPairSync('ed25519');
    case 'ed448':
      return generateKeyPairSync('ed448');
    default:
      return generateKeyPairSync('ec', { namedCurve: kind });
  }
}
