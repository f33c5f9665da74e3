/**
 * Explains why a text is not a host. Most such texts are URLs or parts of one, so the answer names the field for each
 * part.
 */

import { isIpv4 } from '../go/ip-literal.ts';
import { listed } from './field-problem.ts';
import { dialingKinds } from './handlers.ts';
import { isHost } from './names.ts';

type Parts = {
  readonly scheme: string;
  readonly credentials: string;
  readonly host: string;
  readonly port: string;
  /** With its query and fragment. */
  readonly path: string;
};

/** The detail of the field problem of a text for which `isHost` is false. It never repeats credentials. */
export function hostDetail(text: string): string {
  const parts = partsOf(text.trim());
  const meant = isHost(parts.host) ? ` (did you mean ${parts.host}?)` : '';
  if (isIpv4(parts.host) && prefixLength.test(parts.path)) return `must be one address, not a range${meant}`;
  const places = placesOf(parts);
  if (places.length === 0) return `must be a host name or an IP address without brackets${meant}`;
  return `must be a host name or an IP address alone: put ${listed(places, 'and')}${meant}`;
}

const prefixLength = /^\/\d+$/;
const pathStart = /[/?#]/;

/** The field that each part beside the host belongs in. */
function placesOf({ scheme, credentials, port, path }: Parts): readonly string[] {
  return [
    ...(isHttp(scheme) ? ['the scheme in httpGet.scheme'] : []),
    ...(scheme !== '' && !isHttp(scheme) ? [`the protocol in the handler (${listed(dialingKinds, 'or')})`] : []),
    ...(credentials === '' ? [] : ['credentials in httpGet.httpHeaders']),
    ...(port === '' ? [] : ["the port in the probe's port"]),
    ...(path === '' ? [] : ['the path in httpGet.path']),
  ];
}

const isHttp = (scheme: string): boolean => ['http', 'https'].includes(scheme.toLowerCase());

/** Takes the text apart in the order in which a URL is read; no part is validated. */
function partsOf(text: string): Parts {
  const schemeEnd = text.indexOf('://');
  // A later `://` is part of the path.
  const hasScheme = schemeEnd >= 0 && text.search(pathStart) === schemeEnd + 1;
  const [scheme, afterScheme] = cut(text, hasScheme ? schemeEnd : -1, '://'.length);
  const pathAt = afterScheme.search(pathStart);
  const authority = pathAt < 0 ? afterScheme : afterScheme.slice(0, pathAt);
  const [credentials, hostAndPort] = cut(authority, authority.lastIndexOf('@'), '@'.length);
  return { scheme, credentials, ...hostOf(hostAndPort), path: pathAt < 0 ? '' : afterScheme.slice(pathAt) };
}

/** The text before a mark and the text after it; without the mark all of it is after. */
const cut = (text: string, at: number, length: number): readonly [before: string, after: string] =>
  at < 0 ? ['', text] : [text.slice(0, at), text.slice(at + length)];

/** An IPv6 address is in brackets if a port follows it; a text with one colon is a host and a port. */
function hostOf(text: string): Pick<Parts, 'host' | 'port'> {
  const [, bracketed, portOfBracketed] = /^\[([^\]]*)\](.*)$/s.exec(text) ?? [];
  if (bracketed !== undefined) return { host: bracketed, port: portOfBracketed ?? '' };
  const at = text.indexOf(':');
  if (at < 0 || text.includes(':', at + 1)) return { host: text, port: '' };
  return { host: text.slice(0, at), port: text.slice(at) };
}
