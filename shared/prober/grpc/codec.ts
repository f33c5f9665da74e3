/**
 * The few bytes of gRPC that a health probe needs: `grpc.health.v1.HealthCheckRequest` and `…Response` as protobuf, the
 * length-prefixed message around them, `:authority`, `grpc-timeout`, `grpc-message`. Sources: gRPC over HTTP/2
 * (PROTOCOL-HTTP2.md), health.proto, grpc-go's texts.
 */
import { NumberReader } from './protobuf.ts';

/** Flag byte and big-endian length before each message. */
export const prefixBytes = 5;
/** grpc-go's limit. */
export const messageBytesMax = 4 * 1024 * 1024;

const serviceTag = 0x0a;

/**
 * `HealthCheckRequest{service}` in its gRPC frame. The empty service is the default value, so it takes no bytes at all.
 */
export function encodeCheckRequest(service: string): Buffer {
  const name = Buffer.from(service, 'utf8');
  const field = name.length === 0 ? [] : [serviceTag, ...varint(name.length)];
  const frame = Buffer.allocUnsafe(prefixBytes + field.length + name.length);
  frame[0] = 0;
  frame.writeUInt32BE(field.length + name.length, 1);
  frame.set(field, prefixBytes);
  frame.set(name, prefixBytes + field.length);
  return frame;
}

function varint(value: number): readonly number[] {
  const bytes: number[] = [];
  let rest = value;
  for (; rest > 0x7f; rest >>>= 7) bytes.push((rest & 0x7f) | 0x80);
  return [...bytes, rest];
}

/** The code of a `google.rpc.Status` in base64; undefined: it is none. */
export function statusDetailsCode(base64: string): number | undefined {
  const message = Buffer.from(base64, 'base64');
  const reader = new NumberReader();
  reader.take(message, 0, message.length);
  return reader.end();
}

const servingStatuses = ['UNKNOWN', 'SERVING', 'NOT_SERVING', 'SERVICE_UNKNOWN'];
export const serving = 1;

/** A status that the enum does not have prints as its number. */
export const servingStatusName = (status: number): string => servingStatuses[status] ?? String(status);

const codeNames = [
  ...['OK', 'Canceled', 'Unknown', 'InvalidArgument', 'DeadlineExceeded', 'NotFound', 'AlreadyExists'],
  ...['PermissionDenied', 'ResourceExhausted', 'FailedPrecondition', 'Aborted', 'OutOfRange', 'Unimplemented'],
  ...['Internal', 'Unavailable', 'DataLoss', 'Unauthenticated'],
];

export const codeName = (code: number): string => codeNames[code] ?? `Code(${code})`;

/** What RFC 3986 lets an authority have as it is. */
const escapedInAuthority = /[^\w.~!$&'()*+,;=:[\]@-]/u;

/**
 * The value of `:authority`: UTF-8, and percent-encoded where RFC 3986 demands it. Source: grpc-go, clientconn.go
 * (encodeAuthority).
 */
export function encodeAuthority(text: string): string {
  if (!escapedInAuthority.test(text)) return text;
  const bytes = [...Buffer.from(text, 'utf8')].map((byte) => String.fromCharCode(byte));
  return bytes.map((byte) => (escapedInAuthority.test(byte) ? percentEncoded(byte) : byte)).join('');
}

const percentEncoded = (byte: string): string => `%${byte.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`;

const timeoutValueMax = 99_999_999;

/** The value of `grpc-timeout`: at most eight digits and a unit, rounded up. */
export function encodeTimeout(ms: number): string {
  const micros = Math.ceil(ms * 1000);
  return micros <= timeoutValueMax ? `${micros}u` : `${Math.ceil(ms)}m`;
}

/**
 * `grpc-message` as it comes: one character a byte, some of them as `%XX`; a `%` without two hex digits stands for
 * itself.
 */
export function decodeGrpcMessage(value: string): string {
  if (value === '') return '';
  const bytes = value.replace(/%([0-9a-fA-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  return Buffer.from(bytes, 'latin1').toString('utf8');
}

/** As Go's decoder: padded if the length is a multiple of four, else unpadded; line ends inside do not count. */
export function isBase64(value: string): boolean {
  const isPadded = value.length % 4 === 0;
  const text = value.replace(/[\r\n]/g, '');
  if (isPadded) return text.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(text);
  return text.length % 4 !== 1 && /^[A-Za-z0-9+/]*$/.test(text);
}
