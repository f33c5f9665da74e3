/** The forms of a host name in Go's client: to look up, for the Host field, and for a TLS server. */
import { isIP } from 'node:net';
import { domainToASCII, domainToUnicode } from 'node:url';
import { punycodeName } from '../core/go/punycode.ts';

const isAscii = (text: string): boolean => !/[\u0080-\uffff]/.test(text);

/**
 * The name to look up, like Go's idna.Lookup: mapped, then in Punycode. A name without such a form stays as it is; no
 * resolver knows it.
 */
export function lookupName(hostname: string): string {
  if (isAscii(hostname)) return hostname;
  // WHATWG would read fullwidth digits as an address in any of inet_aton's spellings; Go reads them as a name.
  const mapped = hostname.normalize('NFKC').replaceAll('\u3002', '.').toLowerCase();
  if (isAscii(mapped)) return areLookupLabels(mapped) ? mapped : hostname;
  const ascii = domainToASCII(hostname);
  return ascii !== '' && areLookupLabels(domainToUnicode(ascii)) ? ascii : hostname;
}

const areLookupLabels = (name: string): boolean => name.split('.').every(isLookupLabel);

/**
 * Go is stricter than WHATWG: letters, digits and inner hyphens only, and no pair of hyphens in the position of the one
 * in `xn--`.
 */
function isLookupLabel(label: string): boolean {
  if (/[\0-,/:-`{-\x7f]/.test(label)) return false;
  return !label.startsWith('-') && !label.endsWith('-') && label.slice(2, 4) !== '--';
}

export type HostField =
  | { readonly kind: 'host'; readonly host: string }
  /** Go does not send the request. */
  | { readonly kind: 'refused'; readonly message: string };

const hostCharacters = /^[\w!$%&()*+,\-.:;=[\]'~]*$/;

/**
 * The value of the Host field for `name` or `name:port`: Punycode without any mapping. A value that cannot stand in the
 * field becomes empty, which is valid, and an IPv6 zone is dropped because it means nothing to the server.
 */
export function hostField(text: string): HostField {
  const host = isAscii(text) ? text : punycodeHostPort(text);
  if (host === undefined) return { kind: 'refused', message: `idna: invalid label in ${JSON.stringify(text)}` };
  return { kind: 'host', host: hostCharacters.test(host) ? withoutZone(host) : '' };
}

/** httpguts.PunycodeHostPort: a text that net.SplitHostPort cannot split counts as a name as a whole. */
function punycodeHostPort(text: string): string | undefined {
  const { host, port } = splitHostPort(text) ?? { host: text, port: '' };
  const name = punycodeName(host);
  if (name === undefined || port === '') return name;
  return name.includes(':') ? `[${name}]:${port}` : `${name}:${port}`;
}

/** net.SplitHostPort: brackets enclose the whole name or are absent, and only a name in brackets has colons. */
function splitHostPort(text: string): { readonly host: string; readonly port: string } | undefined {
  const bracketed = /^\[([^[\]]*)\]:([^:[\]]*)$/.exec(text);
  const plain = /^([^:[\]]*):([^:[\]]*)$/.exec(text);
  const [, host, port] = bracketed ?? plain ?? [];
  return host === undefined || port === undefined ? undefined : { host, port };
}

function withoutZone(host: string): string {
  const close = host.lastIndexOf(']');
  if (!host.startsWith('[') || close < 0) return host;
  const zone = host.slice(0, close).lastIndexOf('%');
  return zone < 0 ? host : host.slice(0, zone) + host.slice(close);
}

/** crypto/tls: hostnameInSNI. Undefined for an address literal, which no server is asked by. */
export function serverName(hostname: string): string | undefined {
  const zone = hostname.lastIndexOf('%');
  if (isIP(zone > 0 ? hostname.slice(0, zone) : hostname) !== 0) return undefined;
  let end = hostname.length;
  while (hostname[end - 1] === '.') end -= 1;
  return end === 0 ? undefined : hostname.slice(0, end);
}
