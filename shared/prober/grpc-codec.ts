/**
 * The few bytes of gRPC that a health probe needs: `grpc.health.v1.HealthCheckRequest` and `…Response` as protobuf, the length-prefixed
 * message around them, `grpc-timeout`, `grpc-message`. Sources: gRPC over HTTP/2 (PROTOCOL-HTTP2.md), health.proto, grpc-go's texts.
 */

/** Flag byte and big-endian length before each message. */
export const prefixBytes = 5;
/** A response has two bytes of use. grpc-go takes 4 MiB; that much of each probe in flight would be a way to fill the prober's memory. */
export const messageBytesMax = 4096;

const serviceTag = 0x0a;
const statusTag = 0x08;

/** `HealthCheckRequest{service}` in its gRPC frame. The empty service is the default value, so it takes no bytes at all. */
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

/** The enum value of `HealthCheckResponse.status`, or undefined when the bytes are no protobuf. Unknown fields are skipped, the last status wins. */
export function decodeCheckResponse(message: Uint8Array): number | undefined {
  let status = 0;
  let at = 0;
  while (at < message.length) {
    const tag = readVarint(message, at);
    if (tag === undefined || tag.low >>> 3 === 0) return undefined;
    const value = tag.low === statusTag ? readVarint(message, tag.end) : undefined;
    if (value !== undefined) status = value.low | 0;
    const end = value?.end ?? skipField(message, tag);
    if (end === undefined) return undefined;
    at = end;
  }
  return status;
}

/** `low`: the lower 32 bits, which is all that a tag, a length and an enum have. */
type Varint = { readonly low: number; readonly end: number };
const varintBytesMax = 10;

function readVarint(bytes: Uint8Array, from: number): Varint | undefined {
  let low = 0;
  for (let index = 0; index < varintBytesMax; index += 1) {
    const byte = bytes[from + index];
    if (byte === undefined) return undefined;
    if (index < 5) low |= (byte & 0x7f) << (7 * index);
    if (byte < 0x80) return { low: low >>> 0, end: from + index + 1 };
  }
  return undefined;
}

/** Where the next field begins. Groups are older than the health protocol: not understood, so malformed. */
function skipField(bytes: Uint8Array, tag: Varint): number | undefined {
  const end = fieldEnd(bytes, tag);
  return end !== undefined && end <= bytes.length ? end : undefined;
}

function fieldEnd(bytes: Uint8Array, { low, end }: Varint): number | undefined {
  const wireType = low & 7;
  if (wireType === 0) return readVarint(bytes, end)?.end;
  if (wireType === 1) return end + 8;
  if (wireType === 5) return end + 4;
  if (wireType !== 2) return undefined;
  const length = readVarint(bytes, end);
  return length === undefined ? undefined : length.end + length.low;
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

const timeoutValueMax = 99_999_999;

/** The value of `grpc-timeout`: at most eight digits and a unit, rounded up. */
export function encodeTimeout(ms: number): string {
  const micros = Math.ceil(ms * 1000);
  return micros <= timeoutValueMax ? `${micros}u` : `${Math.ceil(ms)}m`;
}

/** `grpc-message` as it comes: one character a byte, some of them as `%XX`; a `%` without two hex digits stands for itself. */
export function decodeGrpcMessage(value: string): string {
  if (value === '') return '';
  const bytes = value.replace(/%([0-9a-fA-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  return Buffer.from(bytes, 'latin1').toString('utf8');
}
