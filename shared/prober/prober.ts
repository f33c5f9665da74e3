/**
 * The prober port: one attempt of one probe. A `ProbeRequest` is fully resolved (address, port, headers, command), so a prober never
 * looks at a spec. A prober never throws: what goes wrong is an `Attempt` with a failure, or with `error` (a prober error, thrown away
 * by the worker after its retries). Source: pkg/probe.
 */
import type { Attempt } from '../core/types.ts';

export type HttpRequest = {
  readonly kind: 'http';
  readonly url: string;
  /** Canonical names, repeated ones repeatedly, in order. */
  readonly headers: readonly (readonly [name: string, value: string])[];
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

export type Prober<Request extends ProbeRequest = ProbeRequest> = (request: Request) => Promise<Attempt>;
