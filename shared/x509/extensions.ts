/** The extensions that Go's crypto/x509 looks into when it parses a certificate. Of others only the frame counts. */
import { constructed, contextSpecific, Der, isNegative, tags } from './der.ts';
import { alternativeNameProblem, constraintProblem } from './general-name.ts';

type Extension = { readonly id: string; readonly isCritical: boolean; readonly value: Buffer };

/** Why Go refuses the extensions; undefined: it does not. `list`: with the frame of the sequence. */
export function extensionsProblem(list: Buffer): string | undefined {
  const extensions = readExtensions(list);
  if (typeof extensions === 'string') return extensions;
  for (const { id, isCritical, value } of extensions) {
    const problem = problems[id]?.(new Der(value), isCritical);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function readExtensions(list: Buffer): readonly Extension[] | string {
  const frames = new Der(list).into(tags.sequence);
  if (!frames) return 'x509: malformed extensions';
  const extensions: Extension[] = [];
  const seen = new Set<string>();
  while (!frames.isEmpty) {
    const frame = frames.into(tags.sequence);
    if (!frame) return 'x509: malformed extension';
    const extension = readExtension(frame);
    if (typeof extension === 'string') return extension;
    const { id } = extension;
    if (seen.has(id)) return `x509: certificate contains duplicate extension with OID "${id}"`;
    seen.add(id);
    extensions.push(extension);
  }
  return extensions;
}

function readExtension(frame: Der): Extension | string {
  const id = frame.objectIdentifier();
  if (id === undefined) return 'x509: malformed extension OID field';
  const isCritical = frame.isNext(tags.boolean) ? frame.boolean() : false;
  if (isCritical === undefined) return 'x509: malformed extension critical field';
  const value = frame.read(tags.octetString);
  return value ? { id, isCritical, value } : 'x509: malformed extension value field';
}

type Problem = (value: Der, isCritical: boolean) => string | undefined;

/** By identifier: 2.5.29.x are those of RFC 5280, section 4.2.1. Nothing behind the value that Go reads counts. */
const problems: Readonly<Record<string, Problem>> = {
  '2.5.29.14': (value, isCritical) => {
    if (isCritical) return 'x509: subject key identifier incorrectly marked critical';
    return value.read(tags.octetString) ? undefined : 'x509: invalid subject key identifier';
  },
  '2.5.29.15': (value) => (value.bitString() ? undefined : 'x509: invalid key usage'),
  '2.5.29.17': (value) => {
    const names = value.into(tags.sequence);
    if (!names) return 'x509: invalid subject alternative names';
    return firstProblem(names, () => {
      const name = names.any();
      return name ? alternativeNameProblem(name) : 'x509: invalid subject alternative name';
    });
  },
  '2.5.29.19': basicConstraintsProblem,
  '2.5.29.30': nameConstraintsProblem,
  '2.5.29.31': (value) => {
    const points = value.into(tags.sequence);
    if (!points) return 'x509: invalid CRL distribution points';
    return firstProblem(points, () =>
      isDistributionPoint(points.into(tags.sequence)) ? undefined : 'x509: invalid CRL distribution point',
    );
  },
  '2.5.29.32': policiesProblem,
  '2.5.29.33': (value) => {
    const mappings = value.into(tags.sequence);
    return areAll(mappings, (list) => {
      const mapping = list.into(tags.sequence);
      return Boolean(mapping?.read(tags.objectIdentifier) && mapping.read(tags.objectIdentifier));
    })
      ? undefined
      : 'x509: invalid policy mappings extension';
  },
  '2.5.29.35': authorityKeyProblem,
  '2.5.29.36': policyConstraintsProblem,
  '2.5.29.37': (value) =>
    areAll(value.into(tags.sequence), (list) => list.objectIdentifier() !== undefined)
      ? undefined
      : 'x509: invalid extended key usages',
  '2.5.29.54': (value) => (isInt64(value.integer()) ? undefined : 'x509: invalid inhibit any policy extension'),
  '1.3.6.1.5.5.7.1.1': (value, isCritical) => {
    if (isCritical) return 'x509: authority info access incorrectly marked critical';
    return areAll(value.into(tags.sequence), isAccessDescription) ? undefined : 'x509: invalid authority info access';
  },
};

/** Of the elements of a list; `read` takes one. */
function firstProblem(list: Der, read: () => string | undefined): string | undefined {
  while (!list.isEmpty) {
    const problem = read();
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function areAll(list: Der | undefined, isRead: (list: Der) => boolean): boolean {
  return list !== undefined && firstProblem(list, () => (isRead(list) ? undefined : '')) === undefined;
}

const int64Bytes = 8;

const isInt64 = (integer: Buffer | undefined): boolean => integer !== undefined && integer.length <= int64Bytes;

function basicConstraintsProblem(value: Der): string | undefined {
  const problem = 'x509: invalid basic constraints';
  const constraints = value.into(tags.sequence);
  if (!constraints) return problem;
  if (constraints.isNext(tags.boolean) && constraints.boolean() === undefined) return problem;
  if (!constraints.isNext(tags.integer)) return undefined;
  const pathLength = constraints.integer();
  return isInt64(pathLength) && pathLength && !isNegative(pathLength) ? undefined : problem;
}

function nameConstraintsProblem(value: Der): string | undefined {
  const invalid = 'x509: invalid NameConstraints extension';
  const constraints = value.into(tags.sequence);
  if (!constraints || !value.isEmpty) return invalid;
  const subtrees = [constructed(0), constructed(1)].map((tag) =>
    constraints.isNext(tag) ? constraints.into(tag) : new Der(Buffer.alloc(0)),
  );
  const [permitted, excluded] = subtrees;
  if (!permitted || !excluded || !constraints.isEmpty) return invalid;
  if (permitted.isEmpty && excluded.isEmpty) return 'x509: empty name constraints extension';
  const problemOf = (trees: Der) =>
    firstProblem(trees, () => {
      const base = trees.into(tags.sequence)?.any();
      return base ? constraintProblem(base) : invalid;
    });
  return problemOf(permitted) ?? problemOf(excluded);
}

function isDistributionPoint(point: Der | undefined): boolean {
  if (!point?.isNext(constructed(0))) return point !== undefined;
  const name = point.into(constructed(0))?.into(constructed(0));
  if (!name) return false;
  const uri = contextSpecific(6);
  while (name.isNext(uri)) if (!name.read(uri)) return false;
  return true;
}

function policiesProblem(value: Der): string | undefined {
  const seen = new Set<string>();
  const isPolicy = (list: Der) => {
    const id = list.into(tags.sequence)?.read(tags.objectIdentifier);
    const text = id?.toString('latin1');
    if (!id || text === undefined || seen.has(text)) return false;
    seen.add(text);
    return isLongIdentifier(id);
  };
  return areAll(value.into(tags.sequence), isPolicy) ? undefined : 'x509: invalid certificate policies';
}

/** An object identifier with numbers of any length. */
function isLongIdentifier(id: Buffer): boolean {
  if ((id.at(-1) ?? 0x80) >= 0x80) return false;
  return id.every((byte, at) => byte !== 0x80 || (at > 0 && (id[at - 1] ?? 0) >= 0x80));
}

function authorityKeyProblem(value: Der, isCritical: boolean): string | undefined {
  if (isCritical) return 'x509: authority key identifier incorrectly marked critical';
  const identifier = value.into(tags.sequence);
  const keyTag = contextSpecific(0);
  const isRead = identifier && (!identifier.isNext(keyTag) || identifier.read(keyTag));
  return isRead ? undefined : 'x509: invalid authority key identifier';
}

function policyConstraintsProblem(value: Der): string | undefined {
  const constraints = value.into(tags.sequence);
  const isRead = (tag: number) => constraints && (!constraints.isNext(tag) || isInt64(constraints.integer(tag)));
  return isRead(contextSpecific(0)) && isRead(contextSpecific(1))
    ? undefined
    : 'x509: invalid policy constraints extension';
}

function isAccessDescription(list: Der): boolean {
  const description = list.into(tags.sequence);
  if (description?.objectIdentifier() === undefined) return false;
  const uri = contextSpecific(6);
  return !description.isNext(uri) || description.read(uri) !== undefined;
}
