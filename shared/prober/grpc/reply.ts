/**
 * Reads the messages of a call as they arrive and decides the finished call as grpc-go does for a unary call. It keeps
 * nothing of a message, however long it is, unless it is compressed. Pure.
 */
import { gunzipSync } from 'node:zlib';
import { goQuote } from '../../core/go/text.ts';
import { messageBytesMax, prefixBytes } from './codec.ts';
import { NumberReader } from './protobuf.ts';
import { type RpcStatus, rpcCode, rpcStatus } from './status.ts';

/** How a stream ended. */
export type StreamEnd = {
  readonly status: RpcStatus;
  /** In order: with trailers, or with the last of the body. A message that has begun is then truncated. */
  readonly isEndOfFile: boolean;
};

export type RpcResult = { readonly kind: 'answered'; readonly servingStatus: number } | RpcStatus;

export type ReplyReader = {
  /** Takes the next bytes. Returns the length of a message that begins in them, 0: none does. */
  readonly take: (data: Uint8Array) => number;
  /**
   * The messages come first and the status after them: a message that breaks the protocol hides the status and decides
   * at once, however long the server keeps the stream open. `encoding`: the headers' `grpc-encoding`, empty: none;
   * `end`: absent while the stream is open. Undefined: not decided yet.
   */
  readonly decide: (encoding: string, end?: StreamEnd) => RpcResult | undefined;
};

/** An answer has two bytes, and some twenty when it is compressed. grpc-go decompresses up to 4 MiB. */
const compressedBytesMax = 4 * 1024;
const decompressedBytesMax = 64 * 1024;

/** A third message would change nothing. */
const messagesMax = 2;

export function replyReader(): ReplyReader {
  const messages: MessageReader[] = [];

  const take = (data: Uint8Array): number => {
    let begunBytes = 0;
    for (let at = 0; at < data.length; ) {
      if (messages.at(-1)?.isOpen() !== true) {
        if (messages.length === messagesMax) return begunBytes;
        messages.push(messageReader());
      }
      const taken = messages.at(-1)?.take(data, at) ?? { end: data.length, begunBytes: 0 };
      begunBytes += taken.begunBytes;
      at = taken.end;
    }
    return begunBytes;
  };
  const decide = (encoding: string, end?: StreamEnd): RpcResult | undefined => {
    const first = judge(messages[0], encoding);
    if (first.kind === 'status') return first;
    if (first.kind === 'none') return atEnd(end, first, rpcStatus(rpcCode.internal, noResponse));
    const second = judge(messages[1], encoding);
    if (second.kind === 'status') return second;
    if (second.kind === 'message') return rpcStatus(rpcCode.internal, secondResponse);
    return atEnd(end, second, { kind: 'answered', servingStatus: first.servingStatus });
  };
  return { take, decide };
}

const noResponse = 'cardinality violation: received no response message from non-server-streaming RPC';
const secondResponse =
  'cardinality violation: expected <EOF> for non server-streaming RPCs, but received another message';

/** There is no further message: the result by the end of the stream, or `whenOk`. */
function atEnd(end: StreamEnd | undefined, { partial }: NoMessage, whenOk: RpcResult): RpcResult | undefined {
  if (end === undefined) return undefined;
  if (partial && end.isEndOfFile) return rpcStatus(rpcCode.internal, 'unexpected EOF');
  return end.status.code === rpcCode.ok ? whenOk : end.status;
}

type MessageReader = {
  /**
   * Takes the next bytes of `data` from `from`. `end`: where the bytes of another message begin; `begunBytes`: its
   * length, once it is known.
   */
  readonly take: (data: Uint8Array, from: number) => { readonly end: number; readonly begunBytes: number };
  readonly isOpen: () => boolean;
  /** Undefined: the prefix is incomplete. */
  readonly prefix: () => Prefix | undefined;
  readonly number: () => number | undefined;
  /** The message as it was compressed, if its prefix says so. */
  readonly compressed: () => Buffer;
};

type Prefix = { readonly format: number; readonly lengthBytes: number };

function messageReader(): MessageReader {
  const prefixRead = Buffer.alloc(prefixBytes);
  const value = new NumberReader();
  let seen = 0;
  let prefix: Prefix | undefined;
  let compressed = nothing;
  const isOpen = () => prefix === undefined || seen < prefixBytes + prefix.lengthBytes;
  return {
    take: (data, from) => {
      let at = from;
      const wasBegun = prefix !== undefined;
      for (; seen < prefixBytes && at < data.length; at += 1) prefixRead[seen++] = data[at] ?? 0;
      if (seen < prefixBytes) return { end: at, begunBytes: 0 };
      prefix ??= { format: prefixRead[0] ?? 0, lengthBytes: prefixRead.readUInt32BE(1) };
      if (!wasBegun && isCompressed(prefix)) compressed = Buffer.allocUnsafe(prefix.lengthBytes);
      const end = Math.min(data.length, at + prefixBytes + prefix.lengthBytes - seen);
      // A message beyond the limit is refused unread.
      if (isCompressed(prefix)) compressed.set(data.subarray(at, end), seen - prefixBytes);
      else if (prefix.lengthBytes <= messageBytesMax) value.take(data, at, end);
      seen += end - at;
      return { end, begunBytes: wasBegun ? 0 : prefix.lengthBytes };
    },
    isOpen,
    prefix: () => prefix,
    number: () => value.end(),
    compressed: () => compressed,
  };
}

const nothing = Buffer.alloc(0);

const isCompressed = ({ format, lengthBytes }: Prefix): boolean => format === 1 && lengthBytes <= compressedBytesMax;

type Message = { readonly kind: 'message'; readonly servingStatus: number };
/** `partial`: a message has begun. */
type NoMessage = { readonly kind: 'none'; readonly partial: boolean };

function judge(message: MessageReader | undefined, encoding: string): Message | NoMessage | RpcStatus {
  if (message === undefined) return { kind: 'none', partial: false };
  const prefix = message.prefix();
  if (prefix === undefined) return { kind: 'none', partial: true };
  const { format, lengthBytes } = prefix;
  if (lengthBytes > messageBytesMax) return tooLarge(lengthBytes, messageBytesMax);
  if (message.isOpen()) return { kind: 'none', partial: true };
  if (format === 0) return messageOf(message.number());
  if (format === 1 && encoding === 'gzip') return decompressed(message, lengthBytes);
  return rpcStatus(rpcCode.internal, payloadRefusal(format, encoding));
}

const messageOf = (servingStatus: number | undefined): Message | RpcStatus =>
  servingStatus === undefined
    ? rpcStatus(
        rpcCode.internal,
        'grpc: failed to unmarshal the received message: proto: cannot parse invalid wire-format data',
      )
    : { kind: 'message', servingStatus };

/** kubelet links grpc-go's gzip, and no other compressor. */
function decompressed(message: MessageReader, lengthBytes: number): Message | RpcStatus {
  if (lengthBytes > compressedBytesMax) return tooLarge(lengthBytes, compressedBytesMax);
  const bytes = gunzipped(message.compressed());
  if (bytes === 'broken') return rpcStatus(rpcCode.internal, 'grpc: failed to decompress the message');
  if (bytes === 'too long')
    return rpcStatus(
      rpcCode.resourceExhausted,
      `grpc: received message after decompression larger than max ${decompressedBytesMax}`,
    );
  const value = new NumberReader();
  value.take(bytes, 0, bytes.length);
  return messageOf(value.end());
}

function gunzipped(compressed: Buffer): Buffer | 'broken' | 'too long' {
  try {
    // @types/node does not know the form with `info`.
    const { buffer, engine } = gunzipSync(compressed, {
      info: true,
      maxOutputLength: decompressedBytesMax,
    }) as unknown as { readonly buffer: Buffer; readonly engine: { readonly bytesWritten: number } };
    // Unlike Go, zlib ignores what follows the last member.
    return engine.bytesWritten === compressed.length ? buffer : 'broken';
  } catch (error) {
    return error instanceof RangeError ? 'too long' : 'broken';
  }
}

const tooLarge = (lengthBytes: number, bytesMax: number): RpcStatus =>
  rpcStatus(rpcCode.resourceExhausted, `grpc: received message larger than max (${lengthBytes} vs. ${bytesMax})`);

function payloadRefusal(format: number, encoding: string): string {
  if (format !== 1) return `grpc: received unexpected payload format ${format}`;
  return encoding === '' || encoding === 'identity'
    ? 'grpc: compressed flag set with identity or empty encoding'
    : `grpc: Decompressor is not installed for grpc-encoding ${goQuote(encoding)}`;
}
