/**
 * The URL that a redirect leads to: Go's `URL.Parse`, which resolves a reference against the URL of the response that
 * contained it (RFC 3986, section 5.2).
 */
import { decode, escaped, parseReference, type Reference, write, writePart } from './url.ts';

export type ResolvedUrl = {
  /** Bytes, one character each: a query keeps bytes that are not UTF-8. */
  readonly url: string;
  /** The reference had a scheme of its own. */
  readonly isAbsolute: boolean;
};

/** Both arguments have one character per byte, the reference as it came over the wire. Undefined: it does not parse. */
export function resolveUrl(base: string, reference: string): ResolvedUrl | undefined {
  const from = parseReference(base);
  const to = parseReference(reference);
  if (from === undefined || to === undefined) return undefined;
  const resolved = resolve(from, to);
  const authority = escaped(resolved.authority ?? '', 'host');
  return { url: write(resolved.scheme ?? '', authority, resolved), isAbsolute: Boolean(to.scheme) };
}

function resolve(from: Reference, to: Reference): Reference {
  const scheme = to.scheme || (from.scheme ?? '');
  if (to.scheme || to.authority || to.userinfo) return { ...to, scheme, path: resolvedPath(to, '') };
  const isSamePlace = to.path.text === '' && !to.query && to.query !== '';
  const { authority, userinfo } = from;
  return {
    ...to,
    scheme,
    ...(authority !== undefined && { authority }),
    ...(userinfo && { userinfo }),
    path: resolvedPath(from, writePart(to.path, 'path')),
    ...(isSamePlace && from.query && { query: from.query }),
    ...(isSamePlace && !to.fragment && from.fragment && { fragment: from.fragment }),
  };
}

function resolvedPath(base: Reference, relative: string): Reference['path'] {
  const path = joined(writePart(base.path, 'path'), relative);
  return decode(path === '' ? '' : withoutDots(path), 'path') ?? { text: path };
}

function joined(base: string, relative: string): string {
  if (relative === '') return base;
  return relative.startsWith('/') ? relative : base.slice(0, base.lastIndexOf('/') + 1) + relative;
}

/**
 * Removes `.` and `..` as Go does, which keeps some empty elements and drops others. The result begins with a slash.
 */
function withoutDots(path: string): string {
  const elements = path.split('/');
  const kept: string[] = [];
  for (const element of elements) {
    if (element === '..') dropLast(kept);
    else if (element !== '.') kept.push(element);
    else if (kept.length === 0) kept.push('');
  }
  const last = elements.at(-1);
  const rest = last === '.' || last === '..' ? `${kept.join('/')}/` : kept.join('/');
  return rest.startsWith('/') ? rest : `/${rest}`;
}

/** A single empty element that remains counts as none. */
function dropLast(kept: string[]): void {
  kept.pop();
  if (kept.length === 1 && kept[0] === '') kept.pop();
}
