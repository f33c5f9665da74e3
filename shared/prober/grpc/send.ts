/**
 * Sends the request of a call as far as the server's settings and windows allow. Source: grpc-go,
 * internal/transport/controlbuf.go.
 */
import { flag, frame, frameType } from '../../http2/frames.ts';
import { encodeHeaders, type SentField } from '../../http2/hpack.ts';
import { fieldOverheadBytes } from '../../http2/hpack-table.ts';
import type { Settings } from '../../http2/settings.ts';

const initialWindowBytes = 65_535;
const frameBytesMax = 16 * 1024;

export type Request = { readonly streamId: number; readonly fields: readonly SentField[]; readonly body: Uint8Array };

export type Sending = {
  readonly settings: (settings: Settings) => void;
  readonly widen: (streamId: number, increment: number) => void;
  /** Starts to send `request`, after any other. Returns why it is invalid, if it is. */
  readonly begin: (request: Request) => string | undefined;
  readonly isBegun: () => boolean;
};

/** `write` takes whole frames. */
export function sending(write: (frames: Uint8Array) => void): Sending {
  /** What the peer has announced last. */
  let headerTableBytes: number | undefined;
  let headerListBytesMax: number | undefined;
  let peerWindowBytes = initialWindowBytes;
  let concurrentStreamsMax = 1;
  let connectionWindow = initialWindowBytes;
  /** Credit of the stream beyond the initial window, less what was sent. */
  let streamWindow = 0;
  let request: Request | undefined;
  let isOpen = false;
  let sentBytes = 0;

  const next = () => {
    if (request === undefined || (!isOpen && concurrentStreamsMax < 1)) return;
    const frames: Buffer[] = [];
    if (!isOpen) frames.push(...headerFrames(request, headerTableBytes));
    isOpen = true;
    for (let data = nextData(request); data !== undefined; data = nextData(request)) frames.push(data);
    if (frames.length > 0) write(Buffer.concat(frames));
  };
  const nextData = ({ streamId, body }: Request): Buffer | undefined => {
    const window = Math.min(connectionWindow, peerWindowBytes + streamWindow);
    const bytes = Math.min(window, frameBytesMax, body.length - sentBytes);
    if (bytes <= 0) return undefined;
    const data = body.subarray(sentBytes, sentBytes + bytes);
    sentBytes += bytes;
    connectionWindow -= bytes;
    streamWindow -= bytes;
    return frame(frameType.data, { flags: sentBytes === body.length ? flag.endStream : 0, streamId }, data);
  };

  return {
    settings: (settings) => {
      headerTableBytes = settings.headerTableBytes ?? headerTableBytes;
      headerListBytesMax = settings.headerListBytesMax ?? headerListBytesMax;
      peerWindowBytes = settings.initialWindowBytes ?? peerWindowBytes;
      concurrentStreamsMax = settings.concurrentStreamsMax ?? concurrentStreamsMax;
      next();
    },
    widen: (streamId, increment) => {
      if (streamId === 0) connectionWindow += increment;
      else if (streamId === request?.streamId) streamWindow += increment;
      next();
    },
    begin: (wanted) => {
      const problem = tooLarge(wanted.fields, headerListBytesMax);
      if (problem !== undefined) return problem;
      request = wanted;
      isOpen = false;
      sentBytes = 0;
      streamWindow = 0;
      next();
      return undefined;
    },
    isBegun: () => isOpen,
  };
}

function headerFrames({ streamId, fields }: Request, tableBytes: number | undefined): readonly Buffer[] {
  return [frame(frameType.headers, { flags: flag.endHeaders, streamId }, encodeHeaders(fields, tableBytes))];
}

function tooLarge(fields: readonly SentField[], listBytesMax: number | undefined): string | undefined {
  const listBytes = fields.reduce((sum, [name, value]) => sum + name.length + value.length + fieldOverheadBytes, 0);
  return listBytesMax === undefined || listBytes <= listBytesMax
    ? undefined
    : `header list size to send violates the maximum size (${listBytesMax} bytes) set by server`;
}
