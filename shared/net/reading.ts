/**
 * The only way to read from a peer's connection. The first bytes are delivered as they arrive. Later bytes are
 * delivered in small pieces, round robin over all connections of the process, while the kernel buffers the rest. So a
 * peer that sends much delays only itself.
 */
import { Socket } from 'node:net';
import { loopTurns, type Slices, sliceMs, slices } from '../lib/slices.ts';
import { resumesOf } from './attributed-socket.ts';

export type Reader = {
  readonly take: (bytes: Buffer) => void;
  /** The peer has closed its sending side. */
  readonly ended: () => void;
  readonly failed: (error: NodeJS.ErrnoException) => void;
  readonly closed: () => void;
};

export type Reading = {
  /** Stops delivery until `release`. */
  readonly hold: () => void;
  readonly release: () => void;
  /** Calls back once all bytes read so far are delivered; immediately, if none wait. */
  readonly whenTaken: (act: () => void) => void;
  /**
   * Calls back once all bytes that have arrived, including those in the kernel, are delivered and a turn of the loop
   * has brought no more.
   */
  readonly whenQuiet: (act: () => void) => void;
};

export type ReadingOptions = {
  /**
   * How many bytes are delivered as they arrive. Defaults to the size of an ordinary answer.
   */
  readonly directBytesMax?: number;
  /**
   * Delivery takes long for its bytes, so all such connections together have a few milliseconds of each turn. By
   * default what is within `directBytesMax` is delivered whatever the others bring in the same turn.
   */
  readonly isCostly?: boolean;
};

/** The size of an ordinary answer. Delivering it directly avoids the cost of taking turns. */
const ordinaryBytesMax = 4 * 1024;
const pieceBytes = 16 * 1024;

/** The receive buffer of every peer. Its content is valid only during the callback. */
const arrivals = Buffer.allocUnsafeSlow(pieceBytes);

/** Takes the received bytes; returns false to stop reading for now. */
type Arrive = (bytes: Buffer) => boolean;

const arriveKey = Symbol('arrive');
const earlyKey = Symbol('early');

/** A socket from `peerSocket`, with its reader or the bytes that arrived before there was one. */
type PeerSocket = Socket & { [arriveKey]?: Arrive | undefined; [earlyKey]?: Buffer | undefined };

/**
 * Creates a socket that copies received bytes out of one shared buffer. Node's streams would allocate 64 KiB for each
 * read, and 64 KiB more when paused.
 */
export function peerSocket(): Socket {
  const callback = (bytesRead: number): boolean => {
    const bytes = Buffer.allocUnsafe(bytesRead);
    arrivals.copy(bytes, 0, 0, bytesRead);
    const arrive = socket[arriveKey];
    if (arrive) return arrive(bytes);
    socket[earlyKey] = bytes;
    return false;
  };
  const socket: PeerSocket = new Socket({ onread: { buffer: arrivals, callback } });
  socket[arriveKey] = undefined;
  return socket;
}

function onBytes(socket: PeerSocket, arrive: Arrive): void {
  if (!Object.hasOwn(socket, arriveKey)) {
    socket.on('data', (bytes: Buffer) => {
      if (!arrive(bytes)) socket.pause();
    });
    return;
  }
  socket[arriveKey] = arrive;
  const early = socket[earlyKey];
  socket[earlyKey] = undefined;
  // Deferred, because the reader does not have its `Reading` yet.
  if (early)
    queueMicrotask(() => {
      if (arrive(early)) socket.resume();
    });
}

/**
 * One scheduler for the process, since it has one event loop. What a piece leads to is done for its probe, before
 * another probe has a piece.
 */
const ofProcess: Slices = slices(loopTurns);

/** What costly deliveries have taken of this turn. */
class CostlyTurn {
  #spentMs = 0;
  #isNew = true;

  hasTime(): boolean {
    return this.#spentMs < sliceMs;
  }

  spend(act: () => void): void {
    if (this.#isNew) {
      this.#isNew = false;
      setImmediate(() => {
        this.#isNew = true;
        this.#spentMs = 0;
      });
    }
    const fromMs = performance.now();
    act();
    this.#spentMs += performance.now() - fromMs;
  }
}

const costlyTurn = new CostlyTurn();

/**
 * Delivers the socket's bytes and events to `reader` in order: `ended`, `failed` and `closed` come after all bytes that
 * preceded them.
 */
export function readSocket(socket: Socket, reader: Reader, options: ReadingOptions = {}): Reading {
  return new SocketReading(socket, reader, options);
}

class SocketReading implements Reading {
  readonly #socket: Socket;
  readonly #reader: Reader;
  readonly #resumes: () => void;
  readonly #directBytesMax: number;
  readonly #isCostly: boolean;
  #directBytes = 0;
  #arrivedCount = 0;
  /** The bytes that wait for their turn. While there are any, the socket is paused. */
  #rest: Buffer | undefined;
  #isHeld = false;
  /** Callbacks to run after `#rest`. */
  #behind: (() => void)[] = [];

  constructor(socket: Socket, reader: Reader, options: ReadingOptions) {
    this.#socket = socket;
    this.#reader = reader;
    this.#resumes = resumesOf(socket);
    this.#directBytesMax = options.directBytesMax ?? ordinaryBytesMax;
    this.#isCostly = options.isCostly ?? false;
    onBytes(socket, (bytes) => this.#arrive(bytes));
    socket.on('end', () => this.#inOrder(reader.ended));
    socket.on('error', (error: NodeJS.ErrnoException) => this.#inOrder(() => reader.failed(error)));
    socket.on('close', () => this.#inOrder(reader.closed));
  }

  hold(): void {
    this.#isHeld = true;
    this.#socket.pause();
  }

  release(): void {
    if (!this.#isHeld) return;
    this.#isHeld = false;
    if (this.#rest === undefined) this.#socket.resume();
    else ofProcess.add(this.#takePiece);
  }

  whenTaken(act: () => void): void {
    if (this.#rest === undefined && this.#socket.readableLength === 0) act();
    else this.#behind.push(() => this.whenTaken(act));
  }

  whenQuiet(act: () => void): void {
    if (this.#rest !== undefined) {
      this.#behind.push(() => this.whenQuiet(act));
      return;
    }
    const before = this.#arrivedCount;
    const again = () => (this.#arrivedCount === before ? act() : this.whenQuiet(act));
    // One read may leave bytes in the kernel, and this turn's reads may be over, so wait for a full turn.
    setImmediate(() => setImmediate(again));
  }

  #arrive(bytes: Buffer): boolean {
    this.#arrivedCount += 1;
    const isDirect = this.#directBytes + bytes.length <= this.#directBytesMax;
    if (isDirect && (!this.#isCostly || costlyTurn.hasTime())) {
      this.#directBytes += bytes.length;
      if (this.#isCostly) costlyTurn.spend(() => this.#take(bytes));
      else this.#take(bytes);
      return !this.#isHeld;
    }
    this.#rest = bytes;
    ofProcess.add(this.#takePiece);
    return false;
  }

  /** One function for the life of the reading, since the scheduler knows its work by identity. */
  readonly #takePiece = (): boolean => {
    if (this.#rest === undefined || this.#isHeld) return false;
    const piece = this.#rest.subarray(0, pieceBytes);
    const isLast = piece.length === this.#rest.length;
    this.#rest = isLast ? undefined : this.#rest.subarray(pieceBytes);
    this.#take(piece);
    if (isLast) this.#resume();
    return !isLast && !this.#isHeld;
  };

  #resume(): void {
    const acts = this.#behind;
    this.#behind = [];
    for (const act of acts) act();
    if (!this.#isHeld) this.#socket.resume();
  }

  #take(bytes: Buffer): void {
    this.#resumes();
    this.#reader.take(bytes);
  }

  #inOrder(act: () => void): void {
    if (this.#rest !== undefined) {
      this.#behind.push(act);
      return;
    }
    this.#resumes();
    act();
  }
}
