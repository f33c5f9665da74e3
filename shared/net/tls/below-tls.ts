/**
 * The stream between a TCP socket and the TLS of a server that is not trusted (`tls-watch.ts`). Without it, Node passes
 * up to 2 MiB to TLS in one turn of the event loop, and OpenSSL verifies whatever certificate chain it finds there,
 * even though probes ignore the result: 100 KiB of certificates take 150 ms. This stream feeds TLS in paced pieces,
 * like any other connection, and limits the handshake to the size of an ordinary one.
 */
import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { type Reading, readSocket } from '../reading.ts';

/**
 * Limit for everything that a server sends up to its Finished message. Ordinary chains have 2 to 10 KiB; 32 KiB take at
 * most a few milliseconds to verify.
 */
export const handshakeBytesMax = 32 * 1024;

/** The error code for a handshake above the limit. */
export const handshakeTooLong = 'HANDSHAKE_TOO_LONG';

/** The stream that TLS runs over. It takes ownership of `socket`. */
export class BelowTls extends Duplex {
  readonly #socket: Socket;
  readonly #reading: Reading;
  #bytesLeft = handshakeBytesMax;
  #arrived: Buffer[] = [];

  constructor(socket: Socket) {
    super({ readableHighWaterMark: 1 });
    this.#socket = socket;
    this.#reading = readSocket(
      socket,
      {
        take: (bytes) => this.#take(bytes),
        ended: () => this.push(null),
        failed: (error) => this.destroy(error),
        closed: () => this.destroy(),
      },
      { directBytesMax: handshakeBytesMax, isCostly: true },
    );
  }

  /** What the server has sent in the handshake so far. */
  get handshake(): Buffer {
    return Buffer.concat(this.#arrived);
  }

  /** Call when the handshake is complete; the limit no longer applies, and nothing is kept. */
  secured(): void {
    this.#bytesLeft = Number.POSITIVE_INFINITY;
    this.#arrived = [];
  }

  #take(bytes: Buffer): void {
    this.#bytesLeft -= bytes.length;
    if (this.#bytesLeft < 0)
      this.destroy(Object.assign(new Error('the TLS handshake is too long'), { code: handshakeTooLong }));
    else {
      if (this.#bytesLeft <= handshakeBytesMax) this.#arrived.push(bytes);
      if (!this.push(bytes)) this.#reading.hold();
    }
  }

  override _read(): void {
    this.#reading.release();
  }

  override _write(bytes: Buffer, _: string, done: (error?: Error | null) => void): void {
    this.#socket.write(bytes, done);
  }

  override _final(done: (error?: Error | null) => void): void {
    this.#socket.end(done);
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#socket.destroy();
    done(error);
  }
}
