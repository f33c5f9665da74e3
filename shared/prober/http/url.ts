/**
 * The parts of a probe's URL as Go's client uses them. Go's net/url wrote the text, so it needs splitting, not
 * validation. URLs are UTF-8 bytes, one character each, because a redirect's query may contain bytes that are not
 * UTF-8, which Go sends unchanged.
 */
import { toText, withoutEscapes } from '../../core/go/bytes.ts';
import { lookupName } from '../host-name.ts';

export type HttpUrl = {
  /** Bytes. */
  readonly text: string;
  readonly scheme: string;
  /** Decoded bytes, for `Authorization`; absent: none. */
  readonly userinfo?: { readonly name: string; readonly password?: string };
  /** The source of `Host`: `name:port`, as written. */
  readonly host: string;
  /** For the dialer: without brackets, in ASCII if there is such a form. */
  readonly dialHost: string;
  /** For comparing the destination of a redirect: without brackets, as written. */
  readonly hostname: string;
  readonly port: number;
  /** The target of the request line, in bytes. */
  readonly target: string;
};

const absoluteUrl = /^([a-z][a-z0-9+.-]*):(?:\/\/(?:([^/?#]*)@)?([^/?#]*)([^?#]*))?(\?[^#]*)?/s;

/** Splits an absolute URL. A text that is not one has no host, which the caller notices before it dials. */
export function httpUrl(text: string): HttpUrl {
  const [, scheme = '', userinfo, authority = '', path = '', query = ''] = absoluteUrl.exec(text) ?? [];
  const host = toText(withoutEscapes(authority));
  const [hostname, port] = splitPort(host);
  return {
    text,
    scheme,
    ...(userinfo !== undefined && { userinfo: splitUserinfo(userinfo) }),
    host,
    hostname,
    dialHost: lookupName(hostname),
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
  if (colon < 0) return { name: withoutEscapes(text) };
  return { name: withoutEscapes(text.slice(0, colon)), password: withoutEscapes(text.slice(colon + 1)) };
}

/** The form that a log or an event may show. */
export const withoutPassword = ({ text, userinfo }: HttpUrl): string =>
  toText(userinfo?.password === undefined ? text : text.replace(/:\/\/([^:@/]*):[^@/]*@/, '://$1:***@'));

/** In bytes. */
export const withoutUserinfo = ({ text, userinfo }: HttpUrl): string =>
  userinfo === undefined ? text : text.replace(/:\/\/[^@/]*@/, '://');
