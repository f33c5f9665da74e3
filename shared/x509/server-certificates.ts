/** The certificates that a server sent in a handshake, as Go's crypto/tls judges them without verifying any. */
import { parseCertificate } from './certificate.ts';
import type { PublicKey } from './public-key.ts';

/** crypto/tls refuses to verify signatures of larger keys. */
const rsaBitsMax = 8_192;
const rsaBitsMin = 1_024;
const rsaExponentMax = 2n ** 31n - 1n;

/** Why Go ends the handshake; undefined: it does not. `certificates`: DER, the server's own first. */
export function serverCertificatesProblem(certificates: readonly Buffer[]): string | undefined {
  const keys: PublicKey[] = [];
  for (const der of certificates) {
    const parsed = parseCertificate(der);
    if (typeof parsed === 'string') return `tls: failed to parse certificate from server: ${parsed}`;
    if (parsed.key.kind === 'rsa' && parsed.key.bits > rsaBitsMax)
      return `tls: server sent certificate containing RSA key larger than ${rsaBitsMax} bits`;
    keys.push(parsed.key);
  }
  return keys[0] && ownKeyProblem(keys[0]);
}

/** Of the key that signed the handshake. */
function ownKeyProblem(key: PublicKey): string | undefined {
  switch (key.kind) {
    case 'dsa':
      return "tls: server's certificate contains an unsupported type of public key: *dsa.PublicKey";
    case 'unknown':
      return "tls: server's certificate contains an unsupported type of public key: <nil>";
    case 'rsa': {
      const problem = rsaProblem(key);
      return problem && `tls: invalid signature by the server certificate: crypto/rsa: ${problem}`;
    }
    case 'elliptic':
    case 'malformed':
      return undefined;
  }
}

function rsaProblem({ bits, isOdd, exponent }: Extract<PublicKey, { kind: 'rsa' }>): string | undefined {
  if (bits < rsaBitsMin)
    return `${bits}-bit keys are insecure (see https://go.dev/pkg/crypto/rsa#hdr-Minimum_key_size)`;
  if (!isOdd) return 'public modulus is even';
  if (exponent < 2n) return 'public exponent too small or negative';
  if (exponent % 2n === 0n) return 'public exponent is even';
  return exponent > rsaExponentMax ? 'public exponent too large' : undefined;
}
