/** The handler for the URL of an endpoint of Gatus, or why there is none. */

import type { Members } from '../values.ts';
import type { Connection, ProbedBy } from './judgement.ts';

export type UrlHandler =
  | {
      readonly kind: 'probed';
      readonly host: string;
      readonly by: ProbedBy;
      /** What a connection stands for. */
      readonly connection?: Connection;
      readonly handler: Members;
      readonly isHttps: boolean;
      /** What the probe does instead of what the scheme says. */
      readonly approximated?: string;
    }
  /** No probe asks that. */
  | { readonly kind: 'not'; readonly reason: string }
  | { readonly kind: 'wrong' };

export type ProbedUrl = Extract<UrlHandler, { readonly kind: 'probed' }>;

const not = (reason: string): UrlHandler => ({ kind: 'not', reason });

/** A connection stands for what is spoken over it. */
const connections: { readonly [scheme in Connection]: number | undefined } = {
  tcp: undefined,
  tls: undefined,
  starttls: undefined,
  ssh: 22,
  ws: 80,
  wss: 443,
};

export function urlHandler(text: string): UrlHandler {
  const scheme = text.includes('://') ? text.slice(0, text.indexOf('://')).toLowerCase() : '';
  // The parser knows the parts of a URL of HTTP; the text may have another scheme.
  const written = text.slice(scheme.length + '://'.length);
  if (scheme === '' || !URL.canParse(`http://${written}`)) return { kind: 'wrong' };
  const url = new URL(`http://${written}`);
  if (url.username !== '' || url.password !== '') return not('has credentials in its URL, which are not stored');
  const host = url.hostname.startsWith('[') ? url.hostname.slice(1, -1) : url.hostname;
  // The parser leaves out port 80, the default of HTTP.
  const authority = written.split(/[/?#]/)[0] ?? '';
  const port = Number(url.port || (authority.endsWith(':80') ? 80 : 0)) || undefined;
  const path = writtenPath(written.slice(authority.length));
  if (path.startsWith('//')) return not('has a path that begins with two slashes, in which a probe sees a host');
  return schemeHandler(scheme, host, port, path);
}

/** As it is written: the parser removes parts such as `..`, which Gatus and a probe send. */
function writtenPath(text: string): string {
  const [path = ''] = text.split('#');
  return path.startsWith('/') ? path : `/${path}`;
}

function schemeHandler(scheme: string, host: string, port: number | undefined, path: string): UrlHandler {
  if (scheme === 'http' || scheme === 'https') {
    const isHttps = scheme === 'https';
    const httpGet = { path, port: port ?? (isHttps ? 443 : 80), ...(isHttps && { scheme: 'HTTPS' }) };
    return { kind: 'probed', host, by: 'httpGet', handler: { httpGet }, isHttps };
  }
  if (scheme === 'grpc' && port !== undefined)
    return { kind: 'probed', host, by: 'grpc', handler: { grpc: { port } }, isHttps: false };
  if (scheme === 'grpcs') return not('is gRPC over TLS, which the handler grpc does not speak');
  if (!isConnection(scheme)) return not(`has a URL of ${scheme}, for which there is no handler`);
  const dialled = port ?? connections[scheme];
  if (dialled === undefined) return not(`has a URL of ${scheme} without a port`);
  const handler = { tcpSocket: { port: dialled } };
  const probed = { kind: 'probed', host, by: 'tcpSocket', connection: scheme, handler, isHttps: false } as const;
  return scheme === 'tcp' ? probed : { ...probed, approximated: `is only connected to: no ${scheme} is spoken` };
}

const isConnection = (scheme: string): scheme is Connection => Object.hasOwn(connections, scheme);
