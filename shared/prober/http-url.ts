/** The parts of a probe's URL as Go's client uses them. The text is one that Go's net/url wrote, so it needs splitting, not judging. */
import { domainToASCII } from 'node:url';

export type HttpUrl = {
  readonly text: string;
  readonly scheme: string;
  /** Decoded, for `Authorization`; absent: none. */
  readonly userinfo?: { readonly name: string; readonly password?: string };
  /** What `Host` says: `name:port`, as written. */
  readonly host: string;
  /** For the dialer: without brackets, in ASCII. */
  readonly dialHost: string;
  /** For comparing where a redirect leads: without brackets, as written. */
  readonly hostname: string;
  readonly port: number;
  /** What the request line says. */
  readonly target: string;
};

const absoluteUrl = /^([a-z][a-z0-9+.-]*):(?:\/\/(?:([^/?#]*)@)?([^/?#]*)([^?#]*))?(\?[^#]*)?/s;

/** Splits an absolute URL; a text that is none has no host, and whoever dials it says so. */
export function httpUrl(text: string): HttpUrl {
  const [, scheme = '', userinfo, authority = '', path = '', query = ''] = absoluteUrl.exec(text) ?? [];
  const host = authority.includes('%') ? decoded(authority) : authority;
  const [hostname, port] = splitPort(host);
  return {
    text,
    scheme,
    ...(userinfo !== undefined && { userinfo: splitUserinfo(userinfo) }),
    host,
    hostname,
    dialHost: isAscii(hostname) ? hostname : domainToASCII(hostname),
    port: port === '' ? defaultPort(scheme) : Number(port),
    target: (path || '/') + query,
  };
}

const defaultPort = (scheme: string): number => (scheme === 'https' ? 443 : 80);

function splitPort(host: string): readonly [hostname: string, port: string] {
  const colon = host.lastIndexOf(':');
  const hasPort = colon >= 0 && /^\d*$/.test(host.slice(colon + 1));
  const name = hasPort ? host.slice(0, colon) : host;
  const isBracketed = name.startsWith('[') && name.endsWith(']');
  return [isBracketed ? name.slice(1, -1) : name, hasPort ? host.slice(colon + 1) : ''];
}

function splitUserinfo(text: string): NonNullable<HttpUrl['userinfo']> {
  const colon = text.indexOf(':');
  if (colon < 0) return { name: decoded(text) };
  return { name: decoded(text.slice(0, colon)), password: decoded(text.slice(colon + 1)) };
}

/** Go escapes bytes, which need not be UTF-8; then the text stays as written. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** As a log or an event may show it. */
export const withoutPassword = ({ text, userinfo }: HttpUrl): string =>
  userinfo?.password === undefined ? text : text.replace(/:\/\/([^:@/]*):[^@/]*@/, '://$1:***@');

export const withoutUserinfo = ({ text, userinfo }: HttpUrl): string =>
  userinfo === undefined ? text : text.replace(/:\/\/[^@/]*@/, '://');

export const isAscii = (text: string): boolean => !/[\u0080-\uffff]/.test(text);
