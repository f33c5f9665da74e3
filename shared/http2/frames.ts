/**
 * HTTP/2 frames (RFC 9113, sections 4 and 6): the frame header, and a reader that gathers each frame.
 */
import { type Gathered, gathered } from '../lib/gathered.ts';

export const frameType = {
  data: 0,
  headers: 1,
  priority: 2,
  rstStream: 3,
  settings: 4,
  pushPromise: 5,
  ping: 6,
  goAway: 7,
  windowUpdate: 8,
  continuation: 9,
} as const;

export const flag = { endStream: 0x1, ack: 0x1, endHeaders: 0x4, padded: 0x8, priority: 0x20 } as const;

export const errorCode = {
  noError: 0,
  protocol: 1,
  internal: 2,
  flowControl: 3,
  settingsTimeout: 4,
  streamClosed: 5,
  frameSize: 6,
  refusedStream: 7,
  cancel: 8,
  compression: 9,
  connect: 10,
  enhanceYourCalm: 11,
  inadequateSecurity: 12,
  http11Required: 13,
} as const;

const errorNames: readonly string[] = [
  ...['NO_ERROR', 'PROTOCOL_ERROR', 'INTERNAL_ERROR', 'FLOW_CONTROL_ERROR', 'SETTINGS_TIMEOUT', 'STREAM_CLOSED'],
  ...['FRAME_SIZE_ERROR', 'REFUSED_STREAM', 'CANCEL', 'COMPRESSION_ERROR', 'CONNECT_ERROR', 'ENHANCE_YOUR_CALM'],
  ...['INADEQUATE_SECURITY', 'HTTP_1_1_REQUIRED'],
];

/** Returns the error name as Go prints it. */
export const errorName = (code: number): string => errorNames[code] ?? `unknown error code 0x${code.toString(16)}`;

export const frameHeaderBytes = 9;
export const streamIdMask = 0x7fff_ffff;

export type FrameHeader = {
  readonly type: number;
  readonly flags: number;
  readonly streamId: number;
  readonly payloadBytes: number;
};

export const hasFlag = ({ flags }: FrameHeader, wanted: number): boolean => (flags & wanted) !== 0;

/** A fault that ends the connection: the error code for the peer, and the reason. */
export type ConnectionFault = { readonly code: number; readonly message: string };

export const fault = (code: number, message: string): ConnectionFault => ({ code, message });

/** Receives the frames. Each function may end the connection by returning a fault, after which none is called again. */
export type FrameTaker = {
  /** A frame begins, whose payload is still to come: the place to refuse one that is too large. */
  readonly begin: (header: FrameHeader) => ConnectionFault | undefined;
  /** The frame is complete. `payload` is valid only during the call. */
  readonly take: (header: FrameHeader, payload: Buffer) => ConnectionFault | undefined;
};

/** Splits incoming bytes into frames. */
export class FrameReader {
  readonly #taker: FrameTaker;
  readonly #headerRead = Buffer.alloc(frameHeaderBytes);
  #headerBytes = 0;
  #header: FrameHeader | undefined;
  /** Of a payload that does not arrive as a whole, what has come. */
  #payload: Gathered | undefined;

  constructor(taker: FrameTaker) {
    this.#taker = taker;
  }

  /** Takes the next bytes. Do not call it again after it has returned a fault. */
  take(bytes: Buffer): ConnectionFault | undefined {
    for (let at = 0; at < bytes.length; ) {
      let header = this.#header;
      if (header === undefined) {
        at = this.#takeHeader(bytes, at);
        if (this.#headerBytes < frameHeaderBytes) return undefined;
        header = decodeHeader(this.#headerRead);
        const refused = this.#taker.begin(header);
        if (refused) return refused;
        this.#header = header;
      }
      const part = bytes.subarray(at, at + header.payloadBytes - (this.#payload?.size() ?? 0));
      const payload = this.#whole(part, header.payloadBytes);
      if (payload === undefined) return undefined;
      at += part.length;
      this.#header = undefined;
      this.#headerBytes = 0;
      const violation = this.#taker.take(header, payload);
      if (violation) return violation;
    }
    return undefined;
  }

  /** The bytes from `from` on are of a header. Returns where the bytes behind it begin. */
  #takeHeader(bytes: Buffer, from: number): number {
    const taken = Math.min(bytes.length - from, frameHeaderBytes - this.#headerBytes);
    this.#headerRead.set(bytes.subarray(from, from + taken), this.#headerBytes);
    this.#headerBytes += taken;
    return from + taken;
  }

  /** The payload that `part` belongs to; undefined: more is to come. Most payloads come as a whole. */
  #whole(part: Buffer, payloadBytes: number): Buffer | undefined {
    if (this.#payload === undefined && part.length === payloadBytes) return part;
    this.#payload ??= gathered(payloadBytes);
    this.#payload.add(part);
    if (!this.#payload.isFull()) {
      this.#payload.keep();
      return undefined;
    }
    const whole = this.#payload.bytes();
    this.#payload = undefined;
    return whole;
  }
}

const decodeHeader = (header: Buffer): FrameHeader => ({
  payloadBytes: header.readUIntBE(0, 3),
  type: header[3] ?? 0,
  flags: header[4] ?? 0,
  streamId: header.readUInt32BE(5) & streamIdMask,
});

/** Encodes a complete frame. */
export function frame(type: number, { flags = 0, streamId = 0 }, payload: Uint8Array = nothing): Buffer {
  const bytes = Buffer.allocUnsafe(frameHeaderBytes + payload.length);
  bytes.writeUIntBE(payload.length, 0, 3);
  bytes[3] = type;
  bytes[4] = flags;
  bytes.writeUInt32BE(streamId, 5);
  bytes.set(payload, frameHeaderBytes);
  return bytes;
}

const nothing = Buffer.alloc(0);
