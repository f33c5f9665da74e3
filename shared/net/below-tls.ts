/**
 * What lies between a socket and its TLS. Node would give TLS all that has arrived, up to 2 MiB in one turn of the loop, and OpenSSL would
 * verify whatever chain of certificates it finds there, though nobody asks for it: 100 KiB take it 100 ms. So TLS is read as any other
 * connection is, piece by piece and in turn, and a handshake may only have the length of an honest one.
 */
import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { type Reading, readSocket } from './reading.ts';

/** All that a server sends up to its Finished. Honest chains have 2 to 10 KiB; 32 KiB cost at most some milliseconds to verify. */
const handshakeBytesMax = 32 * 1024;

/** The code of the error that ends a longer one. */
export const handshakeTooLong = 'HANDSHAKE_TOO_LONG';

/** The stream that TLS is spoken over. It takes `socket` over. */
export class BelowTls extends Duplex {
  readonly #socket: Socket;
  readonly #reading: Reading;
  #bytesLeft = handshakeBytesMax;

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
      { directBytesMax: handshakeBytesMax },
    );
  }

  /** The handshake is over: what follows may have any length. */
  secured(): void {
    this.#bytesLeft = Number.POSITIVE_INFINITY;
  }

  #take(bytes: Buffer): void {
    this.#bytesLeft -= bytes.length;
    if (this.#bytesLeft < 0)
      this.destroy(Object.assign(new Error('the TLS handshake is too long'), { code: handshakeTooLong }));
    else if (!this.push(bytes)) this.#reading.hold();
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
