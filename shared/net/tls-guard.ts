/**
 * Guards the process against what a server sends below TLS.
 *
 * Given a socket, OpenSSL is passed up to 2 MiB in one turn of the event loop, and verifies whatever certificate chain
 * it finds there, even though probes ignore the result: 100 KiB of certificates take 150 ms, and records without
 * content have no end. Two limits need two ways to read a connection:
 *
 * - Over `BelowTls`, a stream between the socket and its TLS. It feeds TLS in paced pieces, like any other connection,
 *   and limits the handshake to the size of an ordinary one. It also keeps what the server sends in it, for the check
 *   of the certificates.
 * - By itself: OpenSSL reads the socket, and a look every 20 ms ends what has sent too much.
 *
 * The stream alone would do, but an HTTPS probe then costs a third more CPU (1.54 ms instead of 1.15 on an EPYC), so
 * both ways stay: a server is trusted after its first handshake of an ordinary length, and never again once it has sent
 * too much. What trusted servers send may all come in one turn of the event loop, so few handshakes at a time are left
 * to OpenSSL.
 */
import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import type { TLSSocket } from 'node:tls';
import { Bag, type BagItem, inNoBag } from '../lib/bag.ts';
import type { Clock } from '../lib/clock.ts';
import { type Reading, readSocket } from './reading.ts';

/**
 * Limit for everything that a server sends up to its Finished message. Ordinary chains have 2 to 10 KiB; 32 KiB take at
 * most a few milliseconds to verify.
 */
export const handshakeBytesMax = 32 * 1024;

/** The error code for a handshake above the limit. */
export const handshakeTooLong = 'HANDSHAKE_TOO_LONG';

/** The error code for a connection that was ended because it sent too much below TLS. */
export const tooMuchBelowTls = 'TOO_MUCH_BELOW_TLS';

/**
 * Limit for what a server may send beyond the content that arrives, over the life of a connection. Records of one byte
 * each take 22 more: an answer of 4 KiB may come in such.
 */
const overheadBytesMax = 256 * 1024;
/** A connection that floods has the event loop for so long, and the turn in which this is over. */
const lookEveryMs = 20;
/** A chain of 95 KiB with large keys takes 150 ms, so the worst turn takes 2.4 s, once for servers that were brief. */
const handshakesMax = 16;
/** How long a connection waits for its place among them. A handshake takes a few milliseconds within a network. */
const placeMsMax = 20;
/** How many servers are remembered, trusted or not; the others are strangers. About 100 bytes each. */
const remembersMax = 16_384;

/** One for each process. */
export type TlsWatch = {
  /** Whether OpenSSL may read this connection by itself, if there is a place. Not if something has arrived before. */
  readonly isTrusted: (socket: Socket) => boolean;
  /** Takes a place for a handshake that OpenSSL reads by itself. Returns false if there is none. */
  readonly takePlace: () => boolean;
  /** Takes the next place that becomes free: true. False after a while, or for a server that is a stranger by then. */
  readonly whenPlace: (socket: Socket) => Promise<boolean>;
  /** Call after a handshake over `BelowTls`, which was of an ordinary length. */
  readonly trust: (socket: Socket) => void;
  /** Call after a handshake over `BelowTls` that was too long. */
  readonly distrust: (socket: Socket) => void;
  /** The next handshake with the server goes over `BelowTls`. */
  readonly forget: (socket: Socket) => void;
  /**
   * Ends a connection that floods, until the returned function is called. The place that was taken for it is free when
   * the handshake is over, or the connection.
   */
  readonly watch: (socket: Socket, secured: TLSSocket) => Watched;
};

export type Watched = {
  /** Call when the handshake is over, well or not. Returns false if it was too long: the server is trusted no more. */
  readonly shaken: () => boolean;
  readonly end: () => void;
};

export function tlsWatch({ setTimer }: Pick<Clock, 'setTimer'>): TlsWatch {
  const trusted = new Map<string, boolean>();
  const places = new Places(setTimer);
  const open = new Bag<Connection>();
  let isLooking = false;

  const look = () => {
    isLooking = open.size > 0;
    if (!isLooking) return;
    for (const connection of open.items()) if (connection.floods()) connection.cut();
    setTimer(lookEveryMs, look);
  };
  const remember = (server: string, isTrusted: boolean) => {
    trusted.set(server, isTrusted);
    if (trusted.size <= remembersMax) return;
    const { value: oldest } = trusted.keys().next();
    if (oldest !== undefined) trusted.delete(oldest);
  };
  const isTrusted = (socket: Socket) => socket.bytesRead === 0 && trusted.get(serverOf(socket)) === true;
  const distrust = (server: string) => remember(server, false);
  return {
    isTrusted,
    trust(socket) {
      const server = serverOf(socket);
      if (!trusted.has(server)) remember(server, true);
    },
    distrust: (socket) => distrust(serverOf(socket)),
    forget(socket) {
      const server = serverOf(socket);
      if (trusted.get(server) === true) trusted.delete(server);
    },
    takePlace: () => places.take(),
    async whenPlace(socket) {
      if (!(await places.whenFree())) return false;
      if (isTrusted(socket)) return true;
      places.leave();
      return false;
    },
    watch(socket, secured) {
      const connection = new Connection(socket, secured, { open, distrust, leave: () => places.leave() });
      open.add(connection);
      if (!isLooking) {
        isLooking = true;
        setTimer(lookEveryMs, look);
      }
      return connection;
    },
  };
}

const serverOf = ({ remoteAddress, remotePort }: Socket): string => `${remoteAddress} ${remotePort}`;

/** Of the handshakes that OpenSSL reads by itself at once. Those that wait get one in the order in which they came. */
class Places {
  readonly #setTimer: Clock['setTimer'];
  readonly #waiting = new Set<(hasPlace: boolean) => void>();
  #taken = 0;

  constructor(setTimer: Clock['setTimer']) {
    this.#setTimer = setTimer;
  }

  take(): boolean {
    if (this.#taken === handshakesMax) return false;
    this.#taken += 1;
    return true;
  }

  whenFree(): Promise<boolean> {
    return new Promise((resolve) => {
      const end = (hasPlace: boolean) => {
        this.#waiting.delete(end);
        cancel();
        resolve(hasPlace);
      };
      const cancel = this.#setTimer(placeMsMax, () => end(false));
      this.#waiting.add(end);
    });
  }

  /** The place goes to the next one at once. */
  leave(): void {
    const [next] = this.#waiting;
    if (next) next(true);
    else this.#taken -= 1;
  }
}

type Owner = {
  readonly open: Bag<Connection>;
  readonly distrust: (server: string) => void;
  /** The handshake is over. */
  readonly leave: () => void;
};

class Connection implements BagItem, Watched {
  bagPlace = inNoBag;
  #isShaken = false;
  #hasPlace = true;
  readonly #socket: Socket;
  readonly #secured: TLSSocket;
  readonly #owner: Owner;

  constructor(socket: Socket, secured: TLSSocket, owner: Owner) {
    this.#socket = socket;
    this.#secured = secured;
    this.#owner = owner;
  }

  shaken(): boolean {
    if (this.#isShaken) return true;
    this.#isShaken = true;
    this.#leave();
    const isShort = this.#socket.bytesRead <= handshakeBytesMax;
    if (!isShort) this.#owner.distrust(serverOf(this.#socket));
    return isShort;
  }

  floods(): boolean {
    const limit = this.#isShaken ? overheadBytesMax : handshakeBytesMax;
    return this.#socket.bytesRead - this.#secured.bytesRead > limit + this.#secured.bytesRead;
  }

  cut(): void {
    this.#owner.distrust(serverOf(this.#socket));
    this.#secured.destroy(Object.assign(new Error('too much is sent below TLS'), { code: tooMuchBelowTls }));
  }

  end(): void {
    this.#owner.open.delete(this);
    this.#leave();
  }

  #leave(): void {
    if (this.#hasPlace) this.#owner.leave();
    this.#hasPlace = false;
  }
}

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
