/** Self-signed certificates made when they are needed, so that no key lies in the repository and none runs out. */
import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto';

export type Certificate = { readonly key: string; readonly cert: string };

export type CertificateOptions = {
  readonly hostname: string;
  readonly notBefore: Date;
  readonly notAfter: Date;
};

/** A P-256 certificate for one DNS name, valid in the given span. */
export function selfSigned({ hostname, notBefore, notAfter }: CertificateOptions): Certificate {
  const signer = keyPair();
  const names = { subject: hostname, issuer: hostname };
  const extensions = [subjectAltName(hostname)];
  return {
    key: signer.pem,
    cert: certificateOf({ ...names, notBefore, notAfter, spki: signer.spki, extensions, signer }),
  };
}

/** Valid whenever the tests run. */
export const localhostCertificate = (): Certificate =>
  selfSigned({ hostname: 'localhost', notBefore: new Date('2020-01-01'), notAfter: new Date('2049-01-01') });

export type KeyPair = Signer & { readonly pem: string; readonly spki: Buffer };

/** On the curve P-256. */
export function keyPair(): KeyPair {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
  return {
    pem: pemKey(privateKey),
    spki: publicKey.export({ type: 'spki', format: 'der' }),
    algorithm: ecdsaWithSha256,
    sign: (bytes) => sign('sha256', bytes, privateKey),
  };
}

export type SignedOptions = Omit<CertificateOptions, 'hostname'> & {
  /** Common names. */
  readonly subject: string;
  readonly issuer: string;
  /** The key that is certified. */
  readonly spki: Buffer;
  readonly extensions: readonly Buffer[];
  readonly signer: Signer;
};

/** `algorithm`: its AlgorithmIdentifier. */
export type Signer = { readonly algorithm: Buffer; readonly sign: (bytes: Buffer) => Buffer };

/** Any certificate, in PEM. */
export function certificateOf(options: SignedOptions): string {
  const { subject, issuer, notBefore, notAfter, spki, extensions, signer } = options;
  const toBeSigned = sequence(
    der(0xa0, integer(2)),
    integer(1),
    signer.algorithm,
    nameOf(issuer),
    sequence(utcTime(notBefore), utcTime(notAfter)),
    nameOf(subject),
    spki,
    ...(extensions.length > 0 ? [der(0xa3, sequence(...extensions))] : []),
  );
  return pem(sequence(toBeSigned, signer.algorithm, der(0x03, Buffer.of(0), signer.sign(toBeSigned))));
}

const nameOf = (name: string) => sequence(set(sequence(commonName, der(0x0c, Buffer.from(name)))));

/** X.690: tag, length, content. */
export function der(tag: number, ...contents: readonly Buffer[]): Buffer {
  const content = Buffer.concat(contents);
  return Buffer.concat([Buffer.of(tag, ...lengthOf(content.length)), content]);
}

/** The shortest form, as DER asks for. */
function lengthOf(length: number): readonly number[] {
  if (length < 0x80) return [length];
  return length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
}

export const sequence = (...contents: readonly Buffer[]) => der(0x30, ...contents);
const set = (...contents: readonly Buffer[]) => der(0x31, ...contents);
const integer = (value: number) => der(0x02, Buffer.of(value));
const objectId = (hex: string) => der(0x06, Buffer.from(hex, 'hex'));

const commonName = objectId('550403');
const ecdsaWithSha256 = sequence(objectId('2a8648ce3d040302'));

const subjectAltName = (hostname: string) =>
  sequence(objectId('551d11'), der(0x04, sequence(der(0x82, Buffer.from(hostname)))));

const utcTime = (date: Date) => der(0x17, Buffer.from(`${date.toISOString().replace(/\D/g, '').slice(2, 14)}Z`));

const pemKey = (key: KeyObject) => key.export({ type: 'pkcs8', format: 'pem' }).toString();

const pem = (bytes: Buffer) =>
  `-----BEGIN CERTIFICATE-----\n${bytes.toString('base64').replace(/.{64}(?=.)/g, '$&\n')}\n-----END CERTIFICATE-----\n`;
