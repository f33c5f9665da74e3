/**
 * Decides which connections OpenSSL reads from the kernel by itself, and ends those that send too much. By itself it is
 * faster by a third than over `BelowTls`, but then nothing paces what the peer sends below TLS: certificates that take
 * long to verify, or records without content. So a server is trusted after its first handshake of an ordinary length,
 * and never again once it has sent too much.
 */
import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { Bag, type BagItem, inNoBag } from '../lib/bag.ts';
import type { Clock } from '../lib/clock.ts';
import { handshakeBytesMax } from './below-tls.ts';

/** The error code for a connection that was ended because it sent too much below TLS. */
export const tooMuchBelowTls = 'TOO_MUCH_BELOW_TLS';

/**
 * Limit for what a server may send beyond the content that arrives, over the life of a connection. Records of one byte
 * each take 22 more: an answer of 4 KiB may come in such.
 */
const overheadBytesMax = 256 * 1024;
/** A connection that floods has the event loop for so long, and the turn in which this is over. */
const lookEveryMs = 20;
/** How many servers are remembered, trusted or not; the others are strangers. About 100 bytes each. */
const remembersMax = 16_384;

/** One for each process. */
export type TlsWatch = {
  /** Whether OpenSSL may read this connection by itself. Not if something has arrived before. */
  readonly isTrusted: (socket: Socket) => boolean;
  /** Call after a handshake over `BelowTls`, which was of an ordinary length. */
  readonly trust: (socket: Socket) => void;
  /** The next handshake with the server goes over `BelowTls`. */
  readonly forget: (socket: Socket) => void;
  /** Ends a connection that floods, until the returned function is called. */
  readonly watch: (socket: Socket, secured: TLSSocket) => Watched;
};

export type Watched = {
  /** Call when the handshake is over, well or not. Returns false if it was too long: the server is trusted no more. */
  readonly shaken: () => boolean;
  readonly end: () => void;
};

export function tlsWatch({ setTimer }: Pick<Clock, 'setTimer'>): TlsWatch {
  const trusted = new Map<string, boolean>();
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
  const distrust = (server: string) => remember(server, false);
  return {
    isTrusted: (socket) => socket.bytesRead === 0 && trusted.get(serverOf(socket)) === true,
    trust(socket) {
      const server = serverOf(socket);
      if (!trusted.has(server)) remember(server, true);
    },
    forget(socket) {
      const server = serverOf(socket);
      if (trusted.get(server) === true) trusted.delete(server);
    },
    watch(socket, secured) {
      const connection = new Connection(socket, secured, { open, distrust });
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

type Owner = { readonly open: Bag<Connection>; readonly distrust: (server: string) => void };

class Connection implements BagItem, Watched {
  bagPlace = inNoBag;
  #isShaken = false;
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
  }
}
