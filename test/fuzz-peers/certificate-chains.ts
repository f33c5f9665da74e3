/** Chains of certificates that are dear to verify, though a probe believes none of them. */
import { randomBytes } from 'node:crypto';
import { type Certificate, certificateOf, der, keyPair, type Signer, sequence } from '../support/certificate.ts';

const span = { notBefore: new Date('2020-01-01'), notAfter: new Date('2049-01-01') };
const nameBytes = 3;

type Link = { readonly spki?: Buffer; readonly extensions?: readonly Buffer[]; readonly signer?: Signer };

/** Each certificate is signed by the next one, at least by its name. */
function chain(count: number, of: (at: number) => Link) {
  const leafKey = keyPair();
  const authorityKey = keyPair();
  const certificates = Array.from({ length: count }, (_, at) => {
    const key = at === 0 ? leafKey : authorityKey;
    const { spki = key.spki, extensions = [], signer = authorityKey } = of(at);
    return certificateOf({ ...span, subject: nameAt(at), issuer: nameAt(at + 1), spki, extensions, signer });
  });
  return { key: leafKey.pem, cert: certificates.join('') } satisfies Certificate;
}

const nameAt = (at: number): string => `${at}`.padStart(nameBytes, '0');

const plainBytes = 330;

/** As many small ones as there is room for. */
export const plainChain = (bytes: number): Certificate =>
  chain(Math.max(1, Math.floor(bytes / plainBytes)), () => ({ extensions: [isAuthority] }));

const modulusBytes = 2_048;
const largeKeyBytes = 4_350;
const exponentBytes = 8;

/** Authorities with the largest keys of RSA: to find a signature wrong is the work. */
export function keyChain(bytes: number): Certificate {
  const spki = largeKey();
  const signer = { algorithm: sha256WithRsa, sign: () => Buffer.alloc(modulusBytes, 0x55) };
  return chain(1 + Math.floor(bytes / largeKeyBytes), (at) => ({
    signer,
    ...(at > 0 && { spki, extensions: [isAuthority] }),
  }));
}

const rsaAlgorithm = (id: string): Buffer => sequence(der(0x06, Buffer.from(id, 'hex')), der(0x05));
const sha256WithRsa = rsaAlgorithm('2a864886f70d01010b');
const rsaEncryption = rsaAlgorithm('2a864886f70d010101');

function largeKey(): Buffer {
  const [modulus, exponent] = [randomBytes(modulusBytes), Buffer.alloc(exponentBytes, 0xff)];
  modulus[0] = 0x7f;
  modulus[modulusBytes - 1] = 0xff;
  exponent[0] = 0x7f;
  const key = sequence(der(0x02, modulus), der(0x02, exponent));
  return sequence(rsaEncryption, der(0x03, Buffer.of(0), key));
}

const extension = (id: string, value: Buffer): Buffer => sequence(der(0x06, Buffer.from(id, 'hex')), der(0x04, value));

const isAuthority = extension('551d13', sequence(der(0x01, Buffer.of(0xff))));
const dnsNameTag = 0x82;
const excludedTag = 0xa1;
const authorities = 7;
/** What is around the names and the constraints of a certificate. */
const fixedBytes = 350;
/** More of both, and they are not compared any more. */
const constraintsMax = 1_020;

/** Names below authorities that exclude many: each name is held against each constraint of every authority above it. */
export function constrainedChain(bytes: number): Certificate {
  const perLink = (bytes - fixedBytes * (authorities + 1)) / (authorities + 1);
  const count = Math.min(constraintsMax, Math.max(1, Math.floor(perLink / pairBytes)));
  const names = extension('551d11', sequence(...dnsNames(count, '')));
  const subtrees = dnsNames(count, 'x').map((each) => sequence(each));
  const constraints = extension('551d1e', sequence(der(excludedTag, ...subtrees)));
  return chain(authorities + 1, (at) => ({ extensions: at === 0 ? [names] : [isAuthority, names, constraints] }));
}

/** A name, and a constraint that is longer by one byte and has a head. */
const pairBytes = 13;

const dnsNames = (count: number, suffix: string): readonly Buffer[] =>
  Array.from({ length: count }, (_, at) =>
    der(dnsNameTag, Buffer.from(`${at.toString(36).padStart(nameBytes, '0')}${suffix}`)),
  );
