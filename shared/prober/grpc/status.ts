/** Status codes of gRPC, and the codes that grpc-go derives for a stream that ends without one. */
import { errorName } from '../../http2/frames.ts';

export type RpcStatus = { readonly kind: 'status'; readonly code: number; readonly message: string };

export const rpcCode = {
  ok: 0,
  canceled: 1,
  unknown: 2,
  deadlineExceeded: 4,
  permissionDenied: 7,
  resourceExhausted: 8,
  unimplemented: 12,
  internal: 13,
  unavailable: 14,
  unauthenticated: 16,
} as const;

export const rpcStatus = (code: number, message: string): RpcStatus => ({ kind: 'status', code, message });

/** Indexed by RFC 9113's error codes, from NO_ERROR on. */
const resetCodes: readonly number[] = [
  ...[rpcCode.internal, rpcCode.internal, rpcCode.internal, rpcCode.resourceExhausted, rpcCode.internal],
  ...[rpcCode.internal, rpcCode.internal, rpcCode.unavailable, rpcCode.canceled, rpcCode.internal, rpcCode.internal],
  ...[rpcCode.resourceExhausted, rpcCode.permissionDenied, rpcCode.internal],
];

/** The server sent RST_STREAM. */
export const resetStatus = (errorCode: number): RpcStatus =>
  rpcStatus(
    resetCodes[errorCode] ?? rpcCode.unknown,
    `stream terminated by RST_STREAM with error code: ${errorName(errorCode)}`,
  );

/** The connection was lost under the stream. */
export const lostStatus = (why: string): RpcStatus =>
  rpcStatus(rpcCode.unavailable, `error reading from server: ${why}`);

export const noTrailers = rpcStatus(rpcCode.internal, 'server closed the stream without sending trailers');

/** The server's GOAWAY excludes the stream from processing. */
export const drained = rpcStatus(rpcCode.unavailable, 'the connection is draining');

const httpCodes: Readonly<Record<number, number>> = {
  400: rpcCode.internal,
  401: rpcCode.unauthenticated,
  403: rpcCode.permissionDenied,
  404: rpcCode.unimplemented,
  429: rpcCode.unavailable,
  502: rpcCode.unavailable,
  503: rpcCode.unavailable,
  504: rpcCode.unavailable,
};

/** The code for the HTTP status of an answer that is not gRPC. */
export const codeOfHttp = (status: number): number => httpCodes[status] ?? rpcCode.unknown;
