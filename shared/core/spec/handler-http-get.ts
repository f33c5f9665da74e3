/** The handler `httpGet`. */

import { hasUserinfo, probeUrl } from '../go/url.ts';
import { at, atMost, type FieldProblem, unless } from './field-problem.ts';
import { type HeaderInput, handlerRow, resolved } from './handler-fields.ts';
import { addressHost, addressProblems, resolvePort } from './handler-tcp-socket.ts';
import { headerBytesMax, headersMax, pathLengthMax } from './limits.ts';
import { isHeaderName } from './names.ts';
import { secretReference } from './secret-hosts.ts';
import type { HttpHeader } from './types.ts';
import { userAgent } from './user-agent.ts';

/** `secret`: the value is a secret, which is sent only to the scheme, host and port of the first request. */
export type RequestHeader = readonly [name: string, value: string, kind?: 'secret'];

export type HttpRequest = {
  readonly kind: 'http';
  readonly url: string;
  /**
   * Canonical names in order; repeated names stay repeated. `Host` is in the list but is sent only as `hostOverride`.
   */
  readonly headers: readonly RequestHeader[];
  /** Sent as Host instead of the URL's host; empty: none. */
  readonly hostOverride: string;
  readonly timeoutMs: number;
};

export const httpGet = handlerRow({
  shape: {
    path: { kind: 'text', default: '/' },
    port: { kind: 'portRef' },
    host: { kind: 'text' },
    scheme: { kind: 'choice', of: ['HTTP', 'HTTPS'], default: 'HTTP' },
    httpHeaders: { kind: 'headers' },
  },
  problems: (action, pointer) => [
    ...addressProblems(action, pointer),
    ...pathProblems(action.path ?? '', at(pointer, 'path')),
    ...headersProblems(action.httpHeaders ?? [], at(pointer, 'httpHeaders')),
  ],
  request(action, subject, timeoutMs) {
    const port = resolvePort(action.port, subject.container.ports);
    if (port.kind === 'error') return port;
    const scheme = (action.scheme || 'http').toLowerCase();
    const host = addressHost(action, subject.host);
    const built = probeUrl({ scheme, host, port: port.value, path: action.path ?? '' });
    if (built.kind === 'error') return built;
    const headers = probeHeaders(action.httpHeaders ?? []);
    const hostOverride = headers.find(([name]) => name === 'Host')?.[1] ?? '';
    return resolved<HttpRequest>({ kind: 'http', url: built.url, headers, hostOverride, timeoutMs });
  },
  cost: ({ scheme }) => (scheme === 'HTTPS' ? 'https' : 'http'),
  descriptors: 1,
  hostOf: addressHost,
});

type Problems = readonly FieldProblem[];

function pathProblems(path: string, pointer: string): Problems {
  return [
    ...unless(path.length <= pathLengthMax, pointer, `must be at most ${pathLengthMax} characters`),
    ...unless(!/[\r\n]/.test(path), pointer, 'must not contain CR or LF'),
    ...unless(!hasUserinfo(path), pointer, 'must not contain user info'),
  ];
}

function headersProblems(headers: readonly HeaderInput[], pointer: string): Problems {
  return [
    ...atMost(headers.length, headersMax, pointer),
    ...headers.slice(0, headersMax).flatMap((header, index) => headerProblems(header, at(pointer, index))),
  ];
}

/** Fields that belong to the connection, not to the request: the prober's transport sets them. */
const hopByHop: ReadonlySet<string> = new Set([
  ...['connection', 'keep-alive', 'te', 'trailer', 'transfer-encoding', 'upgrade', 'content-length'],
]);

const isHopByHop = (name: string): boolean => hopByHop.has(name) || name.startsWith('proxy-');

/** Fields that carry secrets, which are not stored. */
const secretNames = /^(authorization|cookie|x-api-key)$/;

/** Whether the value is a secret itself, and no reference to one. */
export const isSecretLiteral = ({ name, value = '' }: HeaderInput): boolean =>
  secretNames.test(name.toLowerCase()) && value !== '' && !secretReference(value);

function headerProblems({ name, value = '' }: HeaderInput, pointer: string): Problems {
  const lower = name.toLowerCase();
  const bytes = new TextEncoder().encode(name + value).length;
  return [
    ...unless(isHeaderName(name), at(pointer, 'name'), 'must be letters, digits and -'),
    ...unless(!isHopByHop(lower), at(pointer, 'name'), 'must not be a header of the connection'),
    ...unless(bytes <= headerBytesMax, pointer, `must be at most ${headerBytesMax} bytes, name and value together`),
    ...unless(
      !isSecretLiteral({ name, value }),
      at(pointer, 'value'),
      'must be a reference: env:NAME, ssm:… or secretsmanager:…',
    ),
  ];
}

/**
 * The given headers under canonical names, with the default User-Agent and Accept. If the first Accept is empty, all of
 * them are removed.
 */
function probeHeaders(given: readonly HttpHeader[]): readonly (readonly [string, string])[] {
  const headers = given.map(({ name, value }) => [canonicalHeaderName(name), value] as const);
  const firstOf = (wanted: string) => headers.find(([name]) => name === wanted)?.[1];
  const defaults = [...(firstOf('User-Agent') === undefined ? [['User-Agent', userAgent] as const] : [])];
  const accept = firstOf('Accept');
  if (accept === undefined) return [...defaults, ['Accept', '*/*'] as const, ...headers];
  return [...defaults, ...(accept === '' ? headers.filter(([name]) => name !== 'Accept') : headers)];
}

/** `x-request-id` → `X-Request-Id`; a name that is no token stays as it is (Go's textproto). */
function canonicalHeaderName(name: string): string {
  if (!/^[A-Za-z0-9!#$%&'*+\-.^_`|~]+$/.test(name)) return name;
  return name.toLowerCase().replace(/(^|-)[a-z]/g, (start) => start.toUpperCase());
}
