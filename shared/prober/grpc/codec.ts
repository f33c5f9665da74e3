/**
 * The few bytes of gRPC that a health probe needs: `grpc.health.v1.HealthCheckRequest` and `…Response` as protobuf, the
 * length-prefixed message around them, `:authority`, `grpc-timeout`, `grpc-message`. Sources: gRPC over HTTP/2
 * (PROTOCOL-HTTP2.md), health.proto, grpc-go's texts; for what is no valid protobuf: protobuf-go,
 * encoding/protowire/wire.go and internal/impl/decode.go.
 */

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

/** The highest field number of a message, and of a skipped group. */
const fieldNumberMax = 2n ** 29n - 1n;
const groupFieldNumberMax = 2n ** 31n - 1n;
/** Go's limit of nesting. */
const groupsMax = 10_001;
const wireType = { varint: 0, fixed64: 1, bytes: 2, groupStart: 3, groupEnd: 4, fixed32: 5 } as const;

/**
 * Field 1 of a message as a signed number of 32 bits, or 0 if it is absent; undefined: the message is not valid
 * protobuf. Other fields are skipped, as Go skips unknown ones. `start`: the first bytes of a message of `lengthBytes`
 * bytes. If the rest is more than the end of one field, the result is undefined.
 */
export function field1(start: Uint8Array, lengthBytes = start.length): number | undefined {
  const bytes = new ProtobufBytes(start);
  const groups: bigint[] = [];
  let value = 0;
  while (bytes.at < start.length) {
    const tag = bytes.varint();
    const field = tag >> 3n;
    if (field < 1n || field > (groups.length === 0 ? fieldNumberMax : groupFieldNumberMax)) return undefined;
    const type = Number(tag & 7n);
    if (type === wireType.groupStart) groups.push(field);
    else if (type === wireType.groupEnd && groups.pop() !== field) return undefined;
    const number = bytes.skip(type);
    if (number === undefined || groups.length > groupsMax) return undefined;
    if (tag === 8n && groups.length === 0) value = Number(BigInt.asIntN(32, number));
  }
  return bytes.at === lengthBytes && groups.length === 0 ? value : undefined;
}

class ProtobufBytes {
  readonly #bytes: Uint8Array;
  at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  /** Takes a number of at most 64 bits; negative: there is none. */
  varint(): bigint {
    let bits = 0n;
    for (let shift = 0n; this.at < this.#bytes.length && shift < 64n; shift += 7n) {
      const byte = this.#bytes[this.at++] ?? 0;
      bits |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return bits < 2n ** 64n ? bits : -1n;
    }
    return -1n;
  }

  /** Skips what follows a tag. Returns the number that it has or begins with, 0: none; undefined: it is not valid. */
  skip(type: number): bigint | undefined {
    if (type > wireType.fixed32) return undefined;
    const number = type === wireType.varint || type === wireType.bytes ? this.varint() : 0n;
    if (type === wireType.bytes) this.at += Number(number);
    else if (type === wireType.fixed64) this.at += 8;
    else if (type === wireType.fixed32) this.at += 4;
    return number < 0n ? undefined : number;
  }
}

/** The code of a `google.rpc.Status` in base64; undefined: it is none. */
export const statusDetailsCode = (base64: string): number | undefined => field1(Buffer.from(base64, 'base64'));

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
