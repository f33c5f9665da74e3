/** Chains of certificates that are dear to verify, though a probe believes none of them. */
import { randomBytes } from 'node:crypto';
import { type Certificate, certificateOf, der, keyPair, sequence } from '../support/certificate.ts';

const span = { notBefore: new Date('2020-01-01'), notAfter: new Date('2049-01-01') };
const nameBytes = 3;

/** Each certificate is signed by the next one, at least by its name. */
function chain(count: number, of: (at: number) => { readonly spki?: Buffer; readonly extensions?: readonly Buffer[] }) {
  const leafKey = keyPair();
  const signer = keyPair();
  const certificates = Array.from({ length: count }, (_, at) => {
    const key = at === 0 ? leafKey : signer;
    const { spki = key.spki, extensions = [] } = of(at);
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
const largeKeyBytes = 2_300;
const exponentBytes = 8;

/** Authorities with the largest keys of RSA: to find a signature wrong is the work. */
export function keyChain(bytes: number): Certificate {
  const spki = largeKey();
  return chain(1 + Math.floor(bytes / largeKeyBytes), (at) => (at === 0 ? {} : { spki, extensions: [isAuthority] }));
}

function largeKey(): Buffer {
  const [modulus, exponent] = [randomBytes(modulusBytes), Buffer.alloc(exponentBytes, 0xff)];
  modulus[0] = 0x7f;
  modulus[modulusBytes - 1] = 0xff;
  exponent[0] = 0x7f;
  const key = sequence(der(0x02, modulus), der(0x02, exponent));
  const rsaEncryption = sequence(der(0x06, Buffer.from('2a864886f70d010101', 'hex')), der(0x05));
  return sequence(rsaEncryption, der(0x03, Buffer.of(0), key));
}

const extension = (id: string, value: Buffer): Buffer => sequence(der(0x06, Buffer.from(id, 'hex')), der(0x04, value));

const isAuthority = extension('551d13', sequence(der(0x01, Buffer.of(0xff))));
const dnsNameTag = 0x82;
const constraintNameTag = 0x82;
const excludedTag = 0xa1;
const authorities = 6;
const fixedBytes = 600;

/** A leaf of many names below authorities that exclude many: each name is held against each constraint. */
export function constrainedChain(bytes: number): Certificate {
  const share = Math.max(60, Math.floor((bytes - fixedBytes * (authorities + 1)) / (authorities + 1)));
  const names = extension('551d11', sequence(...dnsNames(share, (text) => der(dnsNameTag, text))));
  const subtrees = dnsNames(share, (text) => sequence(der(constraintNameTag, text)));
  const constraints = extension('551d1e', sequence(der(excludedTag, ...subtrees)));
  return chain(authorities + 1, (at) => ({ extensions: at === 0 ? [names] : [isAuthority, constraints] }));
}

function dnsNames(bytes: number, coded: (text: Buffer) => Buffer): readonly Buffer[] {
  const length = coded(Buffer.from('aaa')).length;
  return Array.from({ length: Math.max(1, Math.floor(bytes / length)) }, (_, at) =>
    coded(Buffer.from((at % 46_656).toString(36).padStart(nameBytes, '0'))),
  );
}
