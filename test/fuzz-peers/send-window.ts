/** The windows of one stream and of its connection, for peers that keep to them. */
import type { Socket } from 'node:net';
import { frameType } from './http2-frames.ts';

export type SendWindow = {
  readonly widen: (stream: number, bytes: number) => void;
  /** Resolves once so many bytes of data may be sent, or the socket has closed. */
  readonly spend: (bytes: number, socket: Socket) => Promise<void>;
};

const initialBytes = 65_535;
const headerBytes = 9;

export function sendWindow(): SendWindow {
  let [connection, stream] = [initialBytes, initialBytes];
  let widened: () => void = () => undefined;
  return {
    widen: (of, bytes) => {
      if (of === 0) connection += bytes;
      else stream += bytes;
      widened();
    },
    spend: async (bytes, socket) => {
      while (Math.min(connection, stream) < bytes && !socket.destroyed)
        await new Promise<void>((resolve) => {
          widened = () => {
            socket.off('close', widened);
            resolve();
          };
          socket.once('close', widened);
        });
      connection -= bytes;
      stream -= bytes;
    },
  };
}

/** How much of these frames flow control counts. */
export function dataBytesOf(frames: Buffer): number {
  let sum = 0;
  for (let at = 0; at + headerBytes <= frames.length; ) {
    const length = frames.readUIntBE(at, 3);
    if (frames[at + 3] === frameType.data) sum += length;
    at += headerBytes + length;
  }
  return sum;
}
