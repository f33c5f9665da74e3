/**
 * The URL of an HTTP probe, byte for byte as kubelet builds it: Go's net/url parses the path as a URL reference,
 * discards its scheme and host, and escapes the rest. WHATWG's `URL` differs in dots, backslashes, spaces and user
 * info, and refuses other texts.
 *
 * In this file texts are UTF-8 bytes, one character each.
 */
import {
  areAll,
  bytesThat,
  codesOf,
  escapeBytes,
  escapedCode,
  fromCodes,
  percent,
  toBytes,
  toText,
  withoutEscapes,
} from './bytes.ts';
import { whyNotIpv6 } from './ip-literal.ts';
import { goQuote } from './text.ts';

type Place = 'path' | 'fragment' | 'userinfo' | 'host' | 'zone';

/** The characters beside letters, digits and `-_.~` that Go leaves unescaped, by place. */
const allowed: Readonly<Record<Place, string>> = {
  path: '$&+,/:;=@',
  fragment: '$&+,/:;=?@!()*',
  userinfo: '$&+,;=',
  host: '!$&\'()*+,;=:[]<>"',
  zone: '!$&\'()*+,;=:[]<>"',
};

const leftIn = (place: Place, others = '') =>
  bytesThat((c) => /[A-Za-z0-9\-_.~]/.test(c) || allowed[place].includes(c) || others.includes(c));

/** The bytes that Go leaves unescaped, by place. */
const left: Readonly<Record<Place, Uint8Array>> = {
  path: leftIn('path'),
  fragment: leftIn('fragment'),
  userinfo: leftIn('userinfo'),
  host: leftIn('host'),
  zone: leftIn('zone'),
};

/** What a path or fragment may keep as it was written although Go itself would escape it. */
const keptAsWritten = "!$&'()*+,;=:@[]%";
const kept = { path: leftIn('path', keptAsWritten), fragment: leftIn('fragment', keptAsWritten) };

const noControl = bytesThat((c) => c >= ' ' && c !== '\x7f');

export type ProbeUrl =
  | { readonly kind: 'url'; readonly url: string }
  | { readonly kind: 'error'; readonly error: string };

export type UrlParts = {
  readonly scheme: string;
  /** Without brackets; empty is possible. */
  readonly host: string;
  readonly port: number;
  /** A URL reference; if it does not parse, the whole text is the path. */
  readonly path: string;
};

/**
 * kubelet's `formatURL` and the parse that follows in Go's `http.NewRequest`, which can refuse the scheme or the host.
 */
export function probeUrl(parts: UrlParts): ProbeUrl {
  const reference = parseReference(toBytes(parts.path)) ?? { path: { text: toBytes(parts.path) } };
  const host = toBytes(parts.host);
  const authority = escaped(`${host.includes(':') ? `[${host}]` : host}:${parts.port}`, 'host');
  const url = toText(write(toBytes(parts.scheme), authority, reference));
  const isOpaque = Boolean(reference.opaque) || parts.scheme.includes(':');
  const refusal = refusedScheme(parts.scheme) ?? (isOpaque ? undefined : refusedAuthority(authority));
  if (refusal === undefined) return { kind: 'url', url };
  return { kind: 'error', error: `parse ${goQuote(cut(url, '#')[0])}: ${refusal}` };
}

/** User info in a path would be sent as credentials, a secret in plain sight, so such a path is not registered. */
export const hasUserinfo = (path: string): boolean => parseReference(toBytes(path))?.userinfo !== undefined;

/** Decoded text, and the text as written where that differs from Go's escaping. */
type Part = { readonly text: string; readonly written?: string };

export type Reference = {
  /** In lower case; empty: none. */
  readonly scheme?: string;
  /** `host:port`, decoded; may be empty. Absent: no `//`. */
  readonly authority?: string;
  /** `mailto:x`: everything after the scheme, when it does not begin with a slash. */
  readonly opaque?: string;
  readonly userinfo?: { readonly name: string; readonly password?: string };
  readonly path: Part;
  /** Without the `?`; an empty one still writes it. */
  readonly query?: string;
  readonly fragment?: Part;
};

/** Go's `url.Parse`; undefined: it refuses the text. */
export function parseReference(bytes: string): Reference | undefined {
  const [body, fragmentText] = cut(bytes, '#');
  const reference = parseWithoutFragment(body);
  if (!reference || !fragmentText) return reference;
  const fragment = decode(fragmentText, 'fragment');
  return fragment && { ...reference, fragment };
}

function parseWithoutFragment(bytes: string): Reference | undefined {
  if (!areAll(bytes, noControl)) return undefined;
  if (bytes === '*') return { path: { text: '*', written: '*' } };
  const [schemed, scheme] = splitScheme(bytes);
  if (schemed === undefined) return undefined;
  const [rest, query] = cut(schemed, '?');
  const withQuery = { scheme, ...(query !== undefined && { query }) };
  if (!rest.startsWith('/')) {
    if (scheme !== '') return { opaque: rest, path: { text: '' }, ...withQuery };
    if (cut(rest, '/')[0].includes(':')) return undefined;
  }
  if (!rest.startsWith('//') || (scheme === '' && rest.startsWith('///'))) return withPath(rest, withQuery);
  const slash = rest.indexOf('/', 2);
  const authority = parseAuthority(scheme, rest.slice(2, slash < 0 ? undefined : slash));
  return authority && withPath(slash < 0 ? '' : rest.slice(slash), { ...authority, ...withQuery });
}

function withPath(text: string, others: Omit<Reference, 'path'>): Reference | undefined {
  const path = decode(text, 'path');
  return path && { ...others, path };
}

/**
 * The rest after `scheme:`, and the scheme in lower case (empty: none). Rest undefined: a colon with nothing before it.
 */
function splitScheme(bytes: string): readonly [rest: string | undefined, scheme: string] {
  if (bytes.startsWith(':')) return [undefined, ''];
  const scheme = /^([A-Za-z][A-Za-z0-9+.-]*):/.exec(bytes)?.[1];
  return scheme === undefined ? [bytes, ''] : [bytes.slice(scheme.length + 1), scheme.toLowerCase()];
}

function parseAuthority(scheme: string, authority: string): Pick<Reference, 'authority' | 'userinfo'> | undefined {
  const at = authority.lastIndexOf('@');
  if (refusedAuthority(authority.slice(at + 1), scheme) !== undefined) return undefined;
  const host = { authority: unescaped(authority.slice(at + 1), 'host') ?? '' };
  if (at < 0) return host;
  const userinfo = authority.slice(0, at);
  if (!/^[A-Za-z0-9\-._:~!$&'()*+,;=%@]*$/.test(userinfo)) return undefined;
  const [name, password] = cut(userinfo, ':').map((part) =>
    part === undefined ? undefined : unescaped(part, 'userinfo'),
  );
  if (name === undefined || (password === undefined && userinfo.includes(':'))) return undefined;
  return { ...host, userinfo: { name, ...(password !== undefined && { password }) } };
}

/** Why Go does not take the text for `host[:port]`; undefined: it does. */
function refusedAuthority(authority: string, scheme = 'http'): string | undefined {
  const open = authority.lastIndexOf('[');
  if (open > 0) return 'invalid IP-literal';
  if (open === 0) return refusedBrackets(authority);
  const strict = scheme === 'http' || scheme === 'https';
  const colon = strict ? authority.indexOf(':') : authority.lastIndexOf(':');
  return (colon < 0 ? undefined : refusedPort(authority.slice(colon))) ?? refusedEscapes(authority, 'host');
}

function refusedBrackets(authority: string): string | undefined {
  const close = authority.lastIndexOf(']');
  if (close < 0) return "missing ']' in host";
  const inside = authority.slice(1, close);
  const zoneAt = inside.indexOf('%25');
  const [address, zone] = zoneAt < 0 ? [inside, ''] : [inside.slice(0, zoneAt), inside.slice(zoneAt)];
  const refusal =
    refusedPort(authority.slice(close + 1)) ?? refusedEscapes(address, 'host') ?? refusedEscapes(zone, 'zone');
  if (refusal !== undefined) return refusal;
  const literal = `${unescaped(address, 'host')}${unescaped(zone, 'zone')}`;
  return whyNotIpv6(toText(literal));
}

const refusedPort = (colonPort: string): string | undefined =>
  /^(:\d*)?$/.test(colonPort) ? undefined : `invalid port ${goQuote(toText(colonPort))} after host`;

/** A colon ends the scheme and no authority follows it: `http:` is the scheme of a URL without a host. */
const refusedScheme = (scheme: string): string | undefined =>
  /^[A-Za-z][A-Za-z0-9+.-]*(:|$)/.test(scheme) ? undefined : 'first path segment in URL cannot contain colon';

/** The URL as Go writes it; `authority` is escaped already. */
export function write(scheme: string, authority: string, reference: Reference): string {
  const path = writePart(reference.path, 'path');
  const rooted = path === '' || path.startsWith('/') ? path : `/${path}`;
  const body = reference.opaque ? reference.opaque : `//${writeUserinfo(reference.userinfo)}${authority}${rooted}`;
  const query = reference.query === undefined ? '' : `?${reference.query}`;
  const fragment = reference.fragment ? `#${writePart(reference.fragment, 'fragment')}` : '';
  return `${scheme}:${body}${query}${fragment}`;
}

function writeUserinfo(userinfo: Reference['userinfo']): string {
  if (!userinfo) return '';
  const password = userinfo.password === undefined ? '' : `:${escaped(userinfo.password, 'userinfo')}`;
  return `${escaped(userinfo.name, 'userinfo')}${password}@`;
}

export function writePart(part: Part, place: 'path' | 'fragment'): string {
  const { text, written } = part;
  return written !== undefined && areAll(written, kept[place]) ? written : escaped(text, place);
}

export function decode(written: string, place: 'path' | 'fragment'): Part | undefined {
  const text = unescaped(written, place);
  return text === undefined ? undefined : { text, written };
}

export function escaped(bytes: string, place: Place): string {
  const isLeft = left[place];
  if (areAll(bytes, isLeft)) return bytes;
  const codes = new Uint8Array(bytes.length * escapeBytes);
  let length = 0;
  for (let at = 0; at < bytes.length; at += 1) {
    const code = bytes.charCodeAt(at);
    if (isLeft[code] === 1) codes[length++] = code;
    else {
      codes[length++] = percent;
      codes[length++] = hexCodes[code >> 4] ?? 0;
      codes[length++] = hexCodes[code & 0xf] ?? 0;
    }
  }
  return fromCodes(codes.subarray(0, length));
}

const hexCodes = codesOf('0123456789ABCDEF');

function unescaped(bytes: string, place: Place): string | undefined {
  if (refusedEscapes(bytes, place) !== undefined) return undefined;
  return withoutEscapes(bytes);
}

/** Why the escapes, and in a host the plain characters, are invalid in that place. */
function refusedEscapes(bytes: string, place: Place): string | undefined {
  const inHost = place === 'host' || place === 'zone';
  for (let at = inHost ? 0 : bytes.indexOf('%'); at >= 0 && at < bytes.length; ) {
    const code = bytes.charCodeAt(at);
    if (code === percent) {
      const refusal = refusedEscape(bytes, at, inHost ? place : undefined);
      if (refusal !== undefined) return refusal;
      at += escapeBytes;
    } else if (inHost && code < 0x80 && left[place][code] !== 1) {
      return `invalid character ${goQuote(bytes.charAt(at))} in host name`;
    } else at += 1;
    if (!inHost) at = bytes.indexOf('%', at);
  }
  return undefined;
}

/** `place`: given where not every byte may be escaped. */
function refusedEscape(bytes: string, at: number, place: 'host' | 'zone' | undefined): string | undefined {
  const byte = escapedCode(bytes, at);
  if (byte !== undefined && (place === undefined || isHostEscape(byte, place))) return undefined;
  return `invalid URL escape ${goQuote(toText(bytes.slice(at, at + escapeBytes)))}`;
}

/**
 * A host may escape only non-ASCII bytes and a zone's percent sign. A zone may also escape spaces and what is valid
 * unescaped.
 */
function isHostEscape(code: number, place: 'host' | 'zone'): boolean {
  if (code === percent) return true;
  return place === 'zone' ? code === 0x20 || left.host[code] === 1 : code >= 0x80;
}

function cut(text: string, separator: string): readonly [before: string, after: string | undefined] {
  const at = text.indexOf(separator);
  return at < 0 ? [text, undefined] : [text.slice(0, at), text.slice(at + separator.length)];
}

// The URL that a redirect leads to: Go's `URL.Parse`, which resolves a reference against the URL of the response that
// contained it (RFC 3986, section 5.2).

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
