/** The public key of a certificate, as Go's crypto/x509 parses it. */
import { type BitString, Der, isNegative, magnitude, tags } from './der.ts';

/** `params`: with tag and length; empty: absent. */
export type AlgorithmIdentifier = { readonly algorithm: string; readonly params: Buffer };

export type PublicKey =
  | { readonly kind: 'rsa'; readonly bits: number; readonly isOdd: boolean; readonly exponent: bigint }
  /** Of a named curve, or Ed25519. */
  | { readonly kind: 'elliptic' }
  | { readonly kind: 'dsa' }
  /** Of an algorithm that Go does not know. Such a certificate parses, but no server may use it. */
  | { readonly kind: 'unknown' }
  | { readonly kind: 'malformed'; readonly problem: string };

const malformed = (problem: string): PublicKey => ({ kind: 'malformed', problem });

export function publicKey({ algorithm, params }: AlgorithmIdentifier, key: BitString): PublicKey {
  const bytes = rightAligned(key);
  switch (algorithm) {
    case '1.2.840.113549.1.1.1':
      return rsaKey(params, bytes);
    case '1.2.840.10045.2.1':
      return ellipticKey(params, bytes);
    case '1.3.101.112':
      if (params.length > 0) return malformed('x509: Ed25519 key encoded with illegal parameters');
      return bytes.length === 32 ? { kind: 'elliptic' } : malformed('x509: wrong Ed25519 public key size');
    case '1.2.840.10040.4.1':
      return dsaKey(params, bytes);
    default:
      return { kind: 'unknown' };
  }
}

/** The bits moved to the end, as Go's `RightAlign` does. */
function rightAligned({ bits, padding }: BitString): Buffer {
  if (padding === 0) return bits;
  return Buffer.from(bits.map((byte, at) => (byte >> padding) | ((bits[at - 1] ?? 0) << (8 - padding))));
}

const derNull = Buffer.of(5, 0);

function rsaKey(params: Buffer, bytes: Buffer): PublicKey {
  if (!params.equals(derNull)) return malformed('x509: RSA key missing NULL parameters');
  const key = new Der(bytes).into(tags.sequence);
  if (!key) return malformed('x509: invalid RSA public key');
  const modulus = key.integer();
  if (!modulus) return malformed('x509: invalid RSA modulus');
  const exponent = key.integer();
  if (!exponent || exponent.length > 8) return malformed('x509: invalid RSA public exponent');
  if (isNegative(modulus) || isZero(modulus)) return malformed('x509: RSA modulus is not a positive number');
  if (isNegative(exponent) || isZero(exponent)) return malformed('x509: RSA public exponent is not a positive number');
  const isOdd = ((modulus.at(-1) ?? 0) & 1) === 1;
  return { kind: 'rsa', bits: bitLength(modulus), isOdd, exponent: unsigned(exponent) };
}

function bitLength(integer: Buffer): number {
  const digits = magnitude(integer);
  return digits.length * 8 - (Math.clz32(digits[0] ?? 0) - 24);
}

const isZero = (integer: Buffer): boolean => integer.length === 1 && integer[0] === 0;

const unsigned = (bytes: Buffer): bigint => BigInt(`0x${bytes.toString('hex') || '0'}`);

function dsaKey(params: Buffer, bytes: Buffer): PublicKey {
  const y = new Der(bytes).integer();
  if (!y) return malformed('x509: invalid DSA public key');
  const domain = new Der(params).into(tags.sequence);
  const [p, q, g] = [domain?.integer(), domain?.integer(), domain?.integer()];
  if (!p || !q || !g) return malformed('x509: invalid DSA parameters');
  const arePositive = [y, p, q, g].every((integer) => !isNegative(integer) && !isZero(integer));
  return arePositive ? { kind: 'dsa' } : malformed('x509: zero or negative DSA parameter');
}

/** y² = x³ - 3x + b modulo p. FIPS 186-4, D.1.2. */
type Curve = { readonly name: string; readonly bytes: number; readonly p: bigint; readonly b: bigint };

const curves: Readonly<Record<string, Curve>> = {
  '1.3.132.0.33': {
    name: 'P224',
    bytes: 28,
    p: 2n ** 224n - 2n ** 96n + 1n,
    b: 0xb4050a850c04b3abf54132565044b0b7d7bfd8ba270b39432355ffb4n,
  },
  '1.2.840.10045.3.1.7': {
    name: 'P256',
    bytes: 32,
    p: 2n ** 256n - 2n ** 224n + 2n ** 192n + 2n ** 96n - 1n,
    b: 0x5ac635d8aa3a93e7b3ebbd55769886bc651d06b0cc53b0f63bce3c3e27d2604bn,
  },
  '1.3.132.0.34': {
    name: 'P384',
    bytes: 48,
    p: 2n ** 384n - 2n ** 128n - 2n ** 96n + 2n ** 32n - 1n,
    b: 0xb3312fa7e23ee7e4988e056be3f82d19181d9c6efe8141120314088f5013875ac656398d8a2ed19d2a85c8edd3ec2aefn,
  },
  '1.3.132.0.35': {
    name: 'P521',
    bytes: 66,
    p: 2n ** 521n - 1n,
    b: 0x051953eb9618e1c9a1f929a21a0b68540eea2da725b99b315f3b8b489918ef109e156193951ec7e937b1652c0bd3bb1bf073573df883d2c34f1ef451fd46b503f00n,
  },
};

const uncompressed = 4;

function ellipticKey(params: Buffer, point: Buffer): PublicKey {
  const named = new Der(params).objectIdentifier();
  if (named === undefined) return malformed('x509: invalid ECDSA parameters');
  const curve = curves[named];
  if (!curve) return malformed('x509: unsupported elliptic curve');
  if (point[0] !== uncompressed) return malformed('ecdsa: invalid uncompressed public key');
  const { name, bytes, p, b } = curve;
  if (point.length !== 1 + 2 * bytes) return malformed(`invalid ${name} point encoding`);
  const [x, y] = [unsigned(point.subarray(1, 1 + bytes)), unsigned(point.subarray(1 + bytes))];
  if (x >= p || y >= p) return malformed(`invalid ${name === 'P256' ? 'P256 element' : `${name}Element`} encoding`);
  const isOnCurve = (y * y - (x * x * x - 3n * x + b)) % p === 0n;
  return isOnCurve ? { kind: 'elliptic' } : malformed(`${name} point not on curve`);
}
