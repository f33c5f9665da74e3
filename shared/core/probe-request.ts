/** From a probe's handler to what a prober is asked: kubelet's `runProbe`, without running anything (pkg/kubelet/prober/prober.go). */
import { atoi, type ParsedInteger } from './go-text.ts';
import { probeUrl } from './go-url.ts';
import { portMax } from './limits.ts';
import type { ContainerPort, EnvVar, HttpHeader, PortRef } from './spec.ts';

/** `secret`: the value is one, and leaves only for the scheme, host and port of the first request. */
export type RequestHeader = readonly [name: string, value: string, kind?: 'secret'];

export type HttpRequest = {
  readonly kind: 'http';
  readonly url: string;
  /** Canonical names, repeated ones repeatedly, in order; `Host` is among them but is sent only as `hostOverride`. */
  readonly headers: readonly RequestHeader[];
  /** Sent as Host instead of the URL's host; empty: none. */
  readonly hostOverride: string;
  readonly timeoutMs: number;
};
export type TcpRequest = {
  readonly kind: 'tcp';
  readonly host: string;
  readonly port: number;
  readonly timeoutMs: number;
};
export type GrpcRequest = {
  readonly kind: 'grpc';
  readonly host: string;
  readonly port: number;
  readonly service: string;
  readonly timeoutMs: number;
};
export type ExecRequest = {
  readonly kind: 'exec';
  readonly command: readonly string[];
  readonly target: { readonly namespace: string; readonly name: string; readonly uid: string };
  readonly container: string;
  readonly timeoutMs: number;
};
export type ProbeRequest = HttpRequest | TcpRequest | GrpcRequest | ExecRequest;

/** Of a probe, what decides the request; `Probe` is one. Of several handlers the first in kubelet's order counts. */
export type Handler = {
  readonly exec?: { readonly command: readonly string[] };
  readonly httpGet?: {
    readonly path?: string;
    readonly port: PortRef;
    readonly host?: string;
    /** In any case; absent: http. */
    readonly scheme?: string;
    readonly httpHeaders?: readonly HttpHeader[];
  };
  readonly tcpSocket?: { readonly host?: string; readonly port: PortRef };
  readonly grpc?: { readonly port: number; readonly service?: string };
  readonly timeoutSeconds: number;
};

/** Whose probe it is. */
export type ProbeSubject = {
  readonly target: { readonly namespace: string; readonly name: string; readonly uid: string };
  /** What a pod IP is to kubelet. */
  readonly host: string;
  readonly container: {
    readonly name: string;
    readonly ports?: readonly ContainerPort[];
    readonly env?: readonly EnvVar[];
  };
};

/** A handler that cannot be resolved is a prober error: it never counts as a failure. */
export type ResolvedRequest =
  | { readonly kind: 'request'; readonly request: ProbeRequest }
  | { readonly kind: 'error'; readonly error: string };

/** The release whose behaviour is reproduced, as targets see it. */
export const userAgent = 'kube-probe/1.36';

export function resolveProbeRequest(handler: Handler, subject: ProbeSubject): ResolvedRequest {
  const timeoutMs = handler.timeoutSeconds * 1000;
  if (handler.exec) {
    const command = handler.exec.command.map((word) => expandVariables(word, subject.container.env ?? []));
    const { target, container } = subject;
    return resolved({ kind: 'exec', command, target, container: container.name, timeoutMs });
  }
  if (handler.httpGet) return httpRequest(handler.httpGet, subject, timeoutMs);
  if (handler.tcpSocket) {
    const port = resolvePort(handler.tcpSocket.port, subject.container.ports ?? []);
    if (port.kind === 'error') return port;
    return resolved({ kind: 'tcp', host: handler.tcpSocket.host || subject.host, port: port.value, timeoutMs });
  }
  if (handler.grpc) {
    const { port, service = '' } = handler.grpc;
    return resolved({ kind: 'grpc', host: subject.host, port, service, timeoutMs });
  }
  const { namespace, name, uid } = subject.target;
  return { kind: 'error', error: `missing probe handler for ${name}_${namespace}(${uid}):${subject.container.name}` };
}

const resolved = (request: ProbeRequest): ResolvedRequest => ({ kind: 'request', request });

function httpRequest(
  action: NonNullable<Handler['httpGet']>,
  subject: ProbeSubject,
  timeoutMs: number,
): ResolvedRequest {
  const port = resolvePort(action.port, subject.container.ports ?? []);
  if (port.kind === 'error') return port;
  const scheme = (action.scheme || 'http').toLowerCase();
  const built = probeUrl({ scheme, host: action.host || subject.host, port: port.value, path: action.path ?? '' });
  if (built.kind === 'error') return built;
  const headers = probeHeaders(action.httpHeaders ?? []);
  const hostOverride = headers.find(([name]) => name === 'Host')?.[1] ?? '';
  return resolved({ kind: 'http', url: built.url, headers, hostOverride, timeoutMs });
}

/** A name is looked up in the container's ports first, then read as a decimal number (probe.ResolveContainerPort). */
function resolvePort(port: PortRef, ports: readonly ContainerPort[]): ParsedInteger {
  const found = typeof port === 'number' ? port : ports.find((candidate) => candidate.name === port)?.containerPort;
  const parsed: ParsedInteger = found === undefined ? atoi(String(port)) : { kind: 'integer', value: found };
  if (parsed.kind === 'error' || (parsed.value >= 1 && parsed.value <= portMax)) return parsed;
  return { kind: 'error', error: `invalid port number: ${parsed.value}` };
}

/** Given headers under canonical names; default User-Agent and Accept; an empty first Accept removes them all. */
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

/** `$(NAME)` from the static env, `$$` for a dollar; an unknown name stays as it is. Values are not expanded again. */
function expandVariables(text: string, env: readonly EnvVar[]): string {
  const values = new Map(env.map(({ name, value }) => [name, value]));
  const lastClosing = text.lastIndexOf(')');
  const parts: string[] = [];
  let from = 0;
  for (let at = text.indexOf('$'); at >= 0; at = text.indexOf('$', from)) {
    const end = referenceEnd(text, at, lastClosing);
    parts.push(text.slice(from, at), expanded(text.slice(at, end), values));
    from = end;
  }
  return parts.join('') + text.slice(from);
}

/** Behind the last parenthesis nothing closes a `$(`; to look for it from each of them would take quadratic time. */
function referenceEnd(text: string, at: number, lastClosing: number): number {
  if (text[at + 1] === '$') return at + 2;
  return text[at + 1] === '(' && at < lastClosing ? text.indexOf(')', at) + 1 : at + 1;
}

function expanded(reference: string, values: ReadonlyMap<string, string>): string {
  if (reference === '$' || reference === '$$') return '$';
  return values.get(reference.slice('$('.length, -1)) ?? reference;
}
