/**
 * Reads the messages of a call as they arrive and decides the finished call as grpc-go does for a unary call. It keeps
 * the first 4 KiB of a message: an answer has two bytes, and some twenty when it is compressed. Pure.
 */
import { gunzipSync } from 'node:zlib';
import { goQuote } from '../../core/go/text.ts';
import { field1, messageBytesMax, prefixBytes } from './codec.ts';
import { type RpcStatus, rpcCode, rpcStatus } from './status.ts';

/** How a stream ended. */
export type StreamEnd = {
  readonly status: RpcStatus;
  /** In order: with trailers, or with the last of the body. A message that has begun is then truncated. */
  readonly isEndOfFile: boolean;
};

export type RpcResult = { readonly kind: 'answered'; readonly servingStatus: number } | RpcStatus;

/**
 * grpc-go takes 4 MiB, and decompresses as much. Of a longer message only a last field may lie beyond these bytes,
 * because its content does not matter.
 */
const keptBytesMax = 4 * 1024;
const decompressedBytesMax = 64 * 1024;

/** A third message would change nothing. */
const messagesMax = 2;

export class ReplyReader {
  readonly #messages: Message[] = [];

  /** Takes the next bytes. Returns the length of the messages that begin in them. */
  take(data: Uint8Array): number {
    let begunBytes = 0;
    for (let at = 0; at < data.length; ) {
      let message = this.#messages.at(-1);
      if (message === undefined || !message.isOpen()) {
        if (this.#messages.length === messagesMax) return begunBytes;
        message = new Message();
        this.#messages.push(message);
      }
      const wasBegun = message.isBegun();
      at = message.take(data, at);
      if (!wasBegun && message.isBegun()) begunBytes += message.lengthBytes;
    }
    return begunBytes;
  }

  /**
   * The messages come first and the status after them: a message that breaks the protocol hides the status and decides
   * at once, however long the server keeps the stream open. `encoding`: the headers' `grpc-encoding`, empty: none;
   * `end`: absent while the stream is open. Undefined: not decided yet.
   */
  decide(encoding: string, end?: StreamEnd): RpcResult | undefined {
    const first = judge(this.#messages[0], encoding);
    if (first.kind === 'status') return first;
    if (first.kind === 'none') return atEnd(end, first.partial, rpcStatus(rpcCode.internal, noResponse));
    const second = judge(this.#messages[1], encoding);
    if (second.kind === 'status') return second;
    if (second.kind === 'answered') return rpcStatus(rpcCode.internal, secondResponse);
    return atEnd(end, second.partial, first);
  }
}

const noResponse = 'cardinality violation: received no response message from non-server-streaming RPC';
const secondResponse =
  'cardinality violation: expected <EOF> for non server-streaming RPCs, but received another message';

/** There is no further message, or only a part of one: the result by the end of the stream, or `whenOk`. */
function atEnd(end: StreamEnd | undefined, partial: boolean, whenOk: RpcResult): RpcResult | undefined {
  if (end === undefined) return undefined;
  if (partial && end.isEndOfFile) return rpcStatus(rpcCode.internal, 'unexpected EOF');
  return end.status.code === rpcCode.ok ? whenOk : end.status;
}

/** A flag byte and a length, which are the prefix, and so many bytes. */
class Message {
  format = 0;
  lengthBytes = 0;
  /** Its first bytes. */
  kept: Uint8Array = nothing;
  #seen = 0;

  /** Its prefix is complete. */
  isBegun(): boolean {
    return this.#seen >= prefixBytes;
  }

  isOpen(): boolean {
    return this.#seen < prefixBytes + this.lengthBytes;
  }

  /** Takes the next bytes of `data` from `from`. Returns where the bytes of another message begin. */
  take(data: Uint8Array, from: number): number {
    let at = from;
    for (; !this.isBegun() && at < data.length; at += 1, this.#seen += 1) {
      const byte = data[at] ?? 0;
      if (this.#seen === 0) this.format = byte;
      else this.lengthBytes = this.lengthBytes * 256 + byte;
    }
    if (!this.isBegun()) return at;
    if (this.#seen === prefixBytes) this.kept = Buffer.allocUnsafe(Math.min(this.lengthBytes, keptBytesMax));
    const keptAt = this.#seen - prefixBytes;
    const end = Math.min(data.length, at + this.lengthBytes - keptAt);
    if (keptAt < this.kept.length)
      this.kept.set(data.subarray(at, Math.min(end, at + this.kept.length - keptAt)), keptAt);
    this.#seen += end - at;
    return end;
  }
}

const nothing = new Uint8Array(0);

type Answer = Extract<RpcResult, { kind: 'answered' }>;
/** `partial`: a message has begun. */
type NoMessage = { readonly kind: 'none'; readonly partial: boolean };

function judge(message: Message | undefined, encoding: string): Answer | NoMessage | RpcStatus {
  if (message === undefined) return { kind: 'none', partial: false };
  if (!message.isBegun()) return { kind: 'none', partial: true };
  const { format, lengthBytes, kept } = message;
  if (lengthBytes > messageBytesMax) return tooLarge(lengthBytes, messageBytesMax);
  if (message.isOpen()) return { kind: 'none', partial: true };
  if (format === 0) return answerOf(kept, lengthBytes);
  if (format === 1 && encoding === 'gzip') return decompressed(kept, lengthBytes);
  return rpcStatus(rpcCode.internal, payloadRefusal(format, encoding));
}

function answerOf(kept: Uint8Array, lengthBytes: number): Answer | RpcStatus {
  const servingStatus = field1(kept, lengthBytes);
  if (servingStatus !== undefined) return { kind: 'answered', servingStatus };
  if (lengthBytes > kept.length) return tooLarge(lengthBytes, keptBytesMax);
  const why = 'grpc: failed to unmarshal the received message: proto: cannot parse invalid wire-format data';
  return rpcStatus(rpcCode.internal, why);
}

/** kubelet links grpc-go's gzip, and no other compressor. */
function decompressed(compressed: Uint8Array, lengthBytes: number): Answer | RpcStatus {
  if (lengthBytes > keptBytesMax) return tooLarge(lengthBytes, keptBytesMax);
  const bytes = gunzipped(compressed);
  if (bytes === 'broken') return rpcStatus(rpcCode.internal, 'grpc: failed to decompress the message');
  if (bytes === 'too long')
    return rpcStatus(
      rpcCode.resourceExhausted,
      `grpc: received message after decompression larger than max ${decompressedBytesMax}`,
    );
  return answerOf(bytes, bytes.length);
}

function gunzipped(compressed: Uint8Array): Buffer | 'broken' | 'too long' {
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
