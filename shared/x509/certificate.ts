/**
 * Whether Go's crypto/x509 parses a certificate, and why not. kubelet verifies no certificate, but its client parses
 * each one that a server sends, and a handshake with one that does not parse fails. OpenSSL checks less, so a server
 * that every kubelet calls down would pass.
 *
 * After src/crypto/x509/parser.go of Go 1.26, in its order, because the first problem is the one that is shown.
 */
import { attributeTextProblem } from './attribute-text.ts';
import { constructed, contextSpecific, Der, isNegative, magnitude, tags } from './der.ts';
import { extensionsProblem } from './extensions.ts';
import { type AlgorithmIdentifier, type PublicKey, publicKey } from './public-key.ts';
import { validityProblem } from './validity.ts';

/** A text: why the certificate does not parse, as Go says it. */
export type ParsedCertificate = { readonly key: PublicKey } | string;

/** `der`: one certificate and nothing after it. */
export function parseCertificate(der: Buffer): ParsedCertificate {
  const outside = new Der(der);
  const certificate = outside.into(tags.sequence);
  if (!certificate) return 'x509: malformed certificate';
  const signed = certificate.into(tags.sequence);
  if (!signed) return 'x509: malformed tbs certificate';
  const version = readVersion(signed);
  if (typeof version === 'string') return version;
  const namesProblem = serialProblem(signed) ?? signatureProblem(signed, certificate) ?? subjectProblem(signed);
  if (namesProblem !== undefined) return namesProblem;
  const key = readKey(signed);
  if (typeof key === 'string') return key;
  const problem = version > 1 ? optionalPartsProblem(signed, version) : undefined;
  if (problem !== undefined) return problem;
  if (!certificate.bitString()) return 'x509: malformed signature';
  return outside.isEmpty ? { key } : 'x509: trailing data';
}

const newestVersion = 3;

/** From 1, as it is spoken; it is encoded from 0. */
function readVersion(signed: Der): number | string {
  const tag = constructed(0);
  if (!signed.isNext(tag)) return 1;
  const inside = signed.into(tag);
  const encoded = inside?.integer();
  if (!encoded || encoded.length > 8 || !inside?.isEmpty || isNegative(encoded)) return 'x509: malformed version';
  const version = 1 + (magnitude(encoded)[0] ?? 0);
  return encoded.length === 1 && version <= newestVersion ? version : 'x509: invalid version';
}

function serialProblem(signed: Der): string | undefined {
  const serial = signed.integer();
  if (!serial) return 'x509: malformed serial number';
  return isNegative(serial) ? 'x509: negative serial number' : undefined;
}

/** The algorithm stands inside what is signed and outside of it. */
function signatureProblem(signed: Der, certificate: Der): string | undefined {
  const inner = signed.read(tags.sequence);
  if (!inner) return 'x509: malformed signature algorithm identifier';
  const outer = certificate.read(tags.sequence);
  if (!outer) return 'x509: malformed algorithm identifier';
  if (!outer.equals(inner)) return "x509: inner and outer signature algorithm identifiers don't match";
  const algorithm = readAlgorithm(inner);
  return typeof algorithm === 'string' ? algorithm : undefined;
}

function readAlgorithm(identifier: Buffer): AlgorithmIdentifier | string {
  const der = new Der(identifier);
  const algorithm = der.objectIdentifier();
  if (algorithm === undefined) return 'x509: malformed OID';
  const params = der.isEmpty ? Buffer.alloc(0) : der.any()?.whole;
  return params ? { algorithm, params } : 'x509: malformed parameters';
}

/** Issuer, validity and subject. */
function subjectProblem(signed: Der): string | undefined {
  const issuer = signed.into(tags.sequence);
  if (!issuer) return 'x509: malformed issuer';
  const issuerProblem = nameProblem(issuer);
  if (issuerProblem !== undefined) return issuerProblem;
  const validity = signed.into(tags.sequence);
  if (!validity) return 'x509: malformed validity';
  const timeProblem = validityProblem(validity);
  if (timeProblem !== undefined) return timeProblem;
  const subject = signed.into(tags.sequence);
  // Go says issuer here too.
  return subject ? nameProblem(subject) : 'x509: malformed issuer';
}

function nameProblem(name: Der): string | undefined {
  while (!name.isEmpty) {
    const attributes = name.into(tags.set);
    if (!attributes) return 'x509: invalid RDNSequence';
    while (!attributes.isEmpty) {
      const problem = attributeProblem(attributes.into(tags.sequence));
      if (problem !== undefined) return `x509: invalid RDNSequence: invalid attribute${problem}`;
    }
  }
  return undefined;
}

function attributeProblem(attribute: Der | undefined): string | undefined {
  if (!attribute) return '';
  if (attribute.objectIdentifier() === undefined) return ' type';
  const value = attribute.any();
  if (!value) return ' value';
  const problem = attributeTextProblem(value);
  return problem === undefined ? undefined : ` value: ${problem}`;
}

function readKey(signed: Der): PublicKey | string {
  const info = signed.into(tags.sequence);
  if (!info) return 'x509: malformed spki';
  const identifier = info.read(tags.sequence);
  if (!identifier) return 'x509: malformed public key algorithm identifier';
  const algorithm = readAlgorithm(identifier);
  if (typeof algorithm === 'string') return algorithm;
  const bits = info.bitString();
  if (!bits) return 'x509: malformed subjectPublicKey';
  const key = publicKey(algorithm, bits);
  return key.kind === 'malformed' ? key.problem : key;
}

/** What version 1 does not have. */
function optionalPartsProblem(signed: Der, version: number): string | undefined {
  for (const [tag, name] of [
    [contextSpecific(1), 'issuerUniqueID'],
    [contextSpecific(2), 'subjectUniqueID'],
  ] as const)
    if (signed.isNext(tag) && !signed.read(tag)) return `x509: malformed ${name}`;
  const extensions = constructed(3);
  if (version < newestVersion || !signed.isNext(extensions)) return undefined;
  const list = signed.read(extensions);
  return list ? extensionsProblem(list) : 'x509: malformed extensions';
}
