/**
 * HTTP/2 frames (RFC 9113, sections 4 and 6): the frame header, and a reader that passes payloads on as they arrive.
 */

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
  readonly begin: (header: FrameHeader) => ConnectionFault | undefined;
  /** The next part of the payload is `bytes[from, to)`. */
  readonly payload: (bytes: Uint8Array, from: number, to: number) => void;
  /** The payload is complete. A frame must have no effect before this call. */
  readonly end: () => ConnectionFault | undefined;
};

/** Returns a function that splits incoming bytes into frames. Do not call it again after it has returned a fault. */
export function frameReader(taker: FrameTaker): (bytes: Uint8Array) => ConnectionFault | undefined {
  const header = Buffer.alloc(frameHeaderBytes);
  let headerBytes = 0;
  let restBytes = 0;
  /** `takeHeader` and `takePayload` return the number of bytes that they consumed. */
  const takeHeader = (bytes: Uint8Array, from: number): number => {
    const taken = Math.min(bytes.length - from, frameHeaderBytes - headerBytes);
    header.set(bytes.subarray(from, from + taken), headerBytes);
    headerBytes += taken;
    return taken;
  };
  const takePayload = (bytes: Uint8Array, from: number): number => {
    const taken = Math.min(bytes.length - from, restBytes);
    taker.payload(bytes, from, from + taken);
    restBytes -= taken;
    return taken;
  };
  const begin = (): ConnectionFault | undefined => {
    const begun = decodeHeader(header);
    restBytes = begun.payloadBytes;
    return taker.begin(begun);
  };
  const end = (): ConnectionFault | undefined => {
    headerBytes = 0;
    return taker.end();
  };
  return (bytes) => {
    for (let at = 0; at < bytes.length; ) {
      const isHeader = headerBytes < frameHeaderBytes;
      at += isHeader ? takeHeader(bytes, at) : takePayload(bytes, at);
      if (headerBytes < frameHeaderBytes) return undefined;
      const violation = (isHeader ? begin() : undefined) ?? (restBytes === 0 ? end() : undefined);
      if (violation) return violation;
    }
    return undefined;
  };
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
