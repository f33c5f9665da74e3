/** Frames and header blocks of HTTP/2 for hostile peers, independent of the product's. RFC 9113, RFC 7541. */

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

export const flags = { endStream: 1, ack: 1, endHeaders: 4, padded: 8 } as const;

export type FrameOptions = { readonly flags?: number; readonly stream?: number };

export function frame(type: number, payload: Uint8Array | string = '', options: FrameOptions = {}): Buffer {
  const bytes = typeof payload === 'string' ? Buffer.from(payload, 'latin1') : payload;
  const header = Buffer.alloc(9);
  header.writeUIntBE(bytes.length, 0, 3);
  header[3] = type;
  header[4] = options.flags ?? 0;
  header.writeUInt32BE(options.stream ?? 0, 5);
  return Buffer.concat([header, bytes]);
}

export const settingsFrame = frame(frameType.settings);

/** An integer of HPACK behind `first`, whose lower `bits` are free. */
export function integer(value: number, bits: number, first = 0): Buffer {
  const max = 2 ** bits - 1;
  if (value < max) return Buffer.from([first | value]);
  const bytes = [first | max];
  let rest = value - max;
  for (; rest > 127; rest = Math.floor(rest / 128)) bytes.push((rest % 128) + 128);
  return Buffer.from([...bytes, rest]);
}

export const string = (text: string): Buffer => Buffer.concat([integer(text.length, 7), Buffer.from(text, 'latin1')]);

/** A literal field with a new name; `indexed`: it goes into the dynamic table. */
export const literal = (name: string, value: string, indexed = false): Buffer =>
  Buffer.concat([Buffer.from([indexed ? 0x40 : 0]), string(name), string(value)]);

/** Static table. */
export const status200 = Buffer.from([0x88]);
export const grpcHeaders = Buffer.concat([status200, literal('content-type', 'application/grpc')]);

/** The stream of a client's only request, and the answer of a gRPC server that ends it. */
export const stream = 1;
export const answer = frame(frameType.headers, grpcHeaders, { flags: flags.endHeaders, stream });
export const trailers = frame(frameType.headers, literal('grpc-status', '0'), {
  flags: flags.endHeaders | flags.endStream,
  stream,
});

/** Codes of a Huffman string, as bits, padded with ones. */
export function huffman(codes: readonly (readonly [code: number, bits: number])[]): Buffer {
  const text = codes.map(([code, bits]) => code.toString(2).padStart(bits, '0')).join('');
  const padded = text.padEnd(Math.ceil(text.length / 8) * 8, '1');
  return Buffer.from((padded.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)));
}

export type Frame = {
  readonly type: number;
  readonly flags: number;
  readonly stream: number;
  readonly payload: Buffer;
};

const prefaceBytes = 24;
const headerBytes = 9;

/** Hands over the frames of a client, behind its preface. */
export function frameReader(take: (frame: Frame) => void): (bytes: Buffer) => void {
  let unread: Buffer = Buffer.alloc(0);
  let skip = prefaceBytes;
  return (bytes) => {
    unread = Buffer.concat([unread, bytes]);
    const skipped = Math.min(skip, unread.length);
    skip -= skipped;
    unread = unread.subarray(skipped);
    while (skip === 0 && unread.length >= headerBytes) {
      const length = headerBytes + unread.readUIntBE(0, 3);
      if (unread.length < length) return;
      const payload = unread.subarray(headerBytes, length);
      take({ type: unread[3] ?? 0, flags: unread[4] ?? 0, stream: unread.readUInt32BE(5), payload });
      unread = unread.subarray(length);
    }
  };
}
