/** Flow control of one GET on a connection of its own (RFC 9113, section 5.2), with the windows of Go's client. */
import { windowUpdate } from '../../http2/connection.ts';
import { windowBytesMax } from '../../http2/settings.ts';
import { streamId } from './http2-request.ts';

/** What Go's client grants for the stream, and for the connection beyond the initial window. */
export const streamWindowBytes = 4 * 1024 * 1024;
export const connectionWindowBytes = 1024 * 1024 * 1024;
/** The windows before either side has announced others. */
const initialWindowBytes = 65_535;
/** Refunds are sent once they amount to this. */
const refundBytes = 64 * 1024;

export class FlowControl {
  readonly #write: (frames: Uint8Array) => void;
  /** What this side may send. It sends no data, since the request has no body, but a window must not overflow. */
  #connectionSend = initialWindowBytes;
  #streamSend = initialWindowBytes;
  #peerInitialWindow = initialWindowBytes;
  /** What the peer may send. */
  #connectionReceive = connectionWindowBytes + initialWindowBytes;
  #streamReceive = streamWindowBytes;
  #unrefundedBytes = 0;

  /** `write` receives complete frames. */
  constructor(write: (frames: Uint8Array) => void) {
    this.#write = write;
  }

  /** The peer announced the initial window of its streams. */
  announced(windowBytes: number): void {
    this.#streamSend += windowBytes - this.#peerInitialWindow;
    this.#peerInitialWindow = windowBytes;
  }

  /** The peer widens the window of the stream. Returns false if it becomes too large. */
  widenStream(bytes: number): boolean {
    this.#streamSend += bytes;
    return this.#streamSend <= windowBytesMax;
  }

  /** The peer widens the window of the connection. Returns false if it becomes too large. */
  widenConnection(bytes: number): boolean {
    this.#connectionSend += bytes;
    return this.#connectionSend <= windowBytesMax;
  }

  /** Records a payload on the stream. Returns false if it exceeds a window. */
  arrived(bytes: number): boolean {
    this.#connectionReceive -= bytes;
    this.#streamReceive -= bytes;
    return this.#connectionReceive >= 0 && this.#streamReceive >= 0;
  }

  /** Grants bytes again, a few only together with later ones. `connection`: they are not of the stream. */
  refund(bytes: number, to: 'both' | 'connection'): void {
    this.#unrefundedBytes += bytes;
    if (this.#unrefundedBytes < refundBytes) return;
    this.#write(windowUpdate(0, this.#unrefundedBytes));
    this.#connectionReceive += this.#unrefundedBytes;
    if (to === 'both') {
      this.#write(windowUpdate(streamId, this.#unrefundedBytes));
      this.#streamReceive += this.#unrefundedBytes;
    }
    this.#unrefundedBytes = 0;
  }
}
