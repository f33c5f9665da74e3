/** What a finished call says, decided from what came over the wire, as grpc-go decides it for a unary call. Pure. */
import { STATUS_CODES } from 'node:http';
import { goQuote } from '../core/go-text.ts';
import { decodeCheckResponse, decodeGrpcMessage, messageBytesMax, prefixBytes } from './grpc-codec.ts';

export type Headers = Readonly<Record<string, string | readonly string[] | number | undefined>>;

/** How a stream ended. */
export type StreamEnd =
  /** With a header block: trailers, or the only headers there were. */
  | { readonly kind: 'trailers'; readonly headers: Headers }
  /** With the last of the body, or with headers that carry no gRPC status. */
  | { readonly kind: 'noTrailers' }
  /** By the server's RST_STREAM, or because the bytes were no HTTP/2. */
  | { readonly kind: 'reset'; readonly rstCode: number }
  /** The connection went away under it. */
  | { readonly kind: 'lost' };

export type Reply = {
  readonly headers: Headers | undefined;
  readonly body: Uint8Array;
  /** Absent while the stream goes on. */
  readonly end?: StreamEnd | undefined;
};

export type RpcStatus = { readonly kind: 'status'; readonly code: number; readonly message: string };
export type RpcResult = { readonly kind: 'answered'; readonly servingStatus: number } | RpcStatus;

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

/**
 * The headers come first, then the messages, and only then the status: an answer that breaks the protocol hides the status, and decides
 * at once, however long the server holds the stream. `undefined`: not decided yet.
 */
export function readReply(reply: Reply): RpcResult | undefined {
  const { headers, body } = reply;
  const foreign = headers === undefined ? undefined : nonGrpcStatus(headers);
  if (foreign !== undefined) return foreign;
  const first = nextMessage(body, 0, headers);
  if (first.kind === 'status') return first;
  if (first.kind === 'none') return atEnd(reply, first, rpcStatus(rpcCode.internal, noResponse));
  const second = nextMessage(body, first.endByte, headers);
  if (second.kind === 'status') return second;
  if (second.kind === 'message') return rpcStatus(rpcCode.internal, secondResponse);
  return atEnd(reply, second, { kind: 'answered', servingStatus: first.servingStatus });
}

const noResponse = 'cardinality violation: received no response message from non-server-streaming RPC';
const secondResponse =
  'cardinality violation: expected <EOF> for non server-streaming RPCs, but received another message';

/** There is no further message: what the end of the stream says, or `whenOk`. */
function atEnd({ end }: Reply, { partial }: NoMessage, whenOk: RpcResult): RpcResult | undefined {
  if (end === undefined) return undefined;
  const isEndOfFile = end.kind === 'trailers' || end.kind === 'noTrailers';
  if (partial && isEndOfFile) return rpcStatus(rpcCode.internal, 'unexpected EOF');
  const status = endStatus(end);
  return status.code === rpcCode.ok ? whenOk : status;
}

type Message = { readonly kind: 'message'; readonly servingStatus: number; readonly endByte: number };
/** `partial`: one has begun. */
type NoMessage = { readonly kind: 'none'; readonly partial: boolean };

function nextMessage(body: Uint8Array, from: number, headers: Headers | undefined): Message | NoMessage | RpcStatus {
  if (body.length < from + prefixBytes) return { kind: 'none', partial: body.length > from };
  const length = new DataView(body.buffer, body.byteOffset + from + 1, 4).getUint32(0);
  if (length > messageBytesMax)
    return rpcStatus(
      rpcCode.resourceExhausted,
      `grpc: received message larger than max (${length} vs. ${messageBytesMax})`,
    );
  const endByte = from + prefixBytes + length;
  if (body.length < endByte) return { kind: 'none', partial: true };
  const refused = payloadRefusal(body[from] ?? 0, text(headers?.['grpc-encoding']));
  if (refused !== undefined) return rpcStatus(rpcCode.internal, refused);
  const servingStatus = decodeCheckResponse(body.subarray(from + prefixBytes, endByte));
  return servingStatus === undefined
    ? rpcStatus(
        rpcCode.internal,
        'grpc: failed to unmarshal the received message: proto: cannot parse invalid wire-format data',
      )
    : { kind: 'message', servingStatus, endByte };
}

/** kubelet has no decompressor, so a compressed answer is a failure there too. */
function payloadRefusal(format: number, encoding: string): string | undefined {
  if (format === 0) return undefined;
  if (format !== 1) return `grpc: received unexpected payload format ${format}`;
  return encoding === '' || encoding === 'identity'
    ? 'grpc: compressed flag set with identity or empty encoding'
    : `grpc: Decompressor is not installed for grpc-encoding ${goQuote(encoding)}`;
}

function endStatus(end: StreamEnd): RpcStatus {
  switch (end.kind) {
    case 'trailers':
      return trailerStatus(end.headers);
    case 'noTrailers':
      return rpcStatus(rpcCode.internal, 'server closed the stream without sending trailers');
    case 'reset':
      return resetStatus(end.rstCode);
    case 'lost':
      return rpcStatus(rpcCode.unavailable, 'error reading from server: EOF');
  }
}

/** No `grpc-status` at all reads as Unknown. */
function trailerStatus(headers: Headers): RpcStatus {
  const status = headers['grpc-status'];
  if (status === undefined) return rpcStatus(rpcCode.unknown, decodeGrpcMessage(text(headers['grpc-message'])));
  const code = text(status);
  if (!/^[+-]?\d{1,10}$/.test(code) || Number(code) !== (Number(code) | 0)) return malformedStatus(code);
  return rpcStatus(Number(code) >>> 0, decodeGrpcMessage(text(headers['grpc-message'])));
}

const malformedStatus = (code: string): RpcStatus =>
  rpcStatus(
    rpcCode.unknown,
    `transport: malformed grpc-status: strconv.ParseInt: parsing ${goQuote(code)}: ${/^[+-]?\d+$/.test(code) ? 'value out of range' : 'invalid syntax'}`,
  );

/** RFC 9113's error codes, and what grpc-go makes of each. */
const resets: readonly (readonly [name: string, code: number])[] = [
  ['NO_ERROR', rpcCode.internal],
  ['PROTOCOL_ERROR', rpcCode.internal],
  ['INTERNAL_ERROR', rpcCode.internal],
  ['FLOW_CONTROL_ERROR', rpcCode.resourceExhausted],
  ['SETTINGS_TIMEOUT', rpcCode.internal],
  ['STREAM_CLOSED', rpcCode.internal],
  ['FRAME_SIZE_ERROR', rpcCode.internal],
  ['REFUSED_STREAM', rpcCode.unavailable],
  ['CANCEL', rpcCode.canceled],
  ['COMPRESSION_ERROR', rpcCode.internal],
  ['CONNECT_ERROR', rpcCode.internal],
  ['ENHANCE_YOUR_CALM', rpcCode.resourceExhausted],
  ['INADEQUATE_SECURITY', rpcCode.permissionDenied],
  ['HTTP_1_1_REQUIRED', rpcCode.internal],
];

function resetStatus(rstCode: number): RpcStatus {
  const [name, code] = resets[rstCode] ?? [`unknown error code 0x${rstCode.toString(16)}`, rpcCode.unknown];
  return rpcStatus(code, `stream terminated by RST_STREAM with error code: ${name}`);
}

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

/** Headers that are not gRPC's: the HTTP status tells what it can. */
function nonGrpcStatus(headers: Headers): RpcStatus | undefined {
  const type = headers['content-type'];
  if (isGrpcType(text(type))) return undefined;
  const status = Number(headers[':status']);
  const typeText =
    type === undefined
      ? 'malformed header: missing HTTP content-type'
      : `transport: received unexpected content-type ${goQuote(text(type))}`;
  return rpcStatus(
    httpCodes[status] ?? rpcCode.unknown,
    `unexpected HTTP status code received from server: ${status} (${STATUS_CODES[status] ?? ''}); ${typeText}`,
  );
}

const isGrpcType = (type: string): boolean => /^application\/grpc([+;]|$)/.test(type);

const text = (value: Headers[string]): string => (value === undefined ? '' : String(value));
