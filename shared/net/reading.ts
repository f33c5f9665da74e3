/**
 * The one way to read a connection to a peer. The first bytes are taken as they arrive; whatever a peer sends beyond is taken in small
 * pieces that all connections of the process take in turn, and meanwhile the kernel holds the rest. A peer that sends much delays itself.
 */
import { Socket } from 'node:net';
import { type Slices, slices } from '../lib/slices.ts';
import { resumesOf } from './attributed-socket.ts';

export type Reader = {
  readonly take: (bytes: Buffer) => void;
  /** The peer sends no more. */
  readonly ended: () => void;
  readonly failed: (error: NodeJS.ErrnoException) => void;
  readonly closed: () => void;
};

export type Reading = {
  /** Nothing is taken until `release`. */
  readonly hold: () => void;
  readonly release: () => void;
  /** Calls back once all that has been read is taken: at once, if nothing waits. */
  readonly whenTaken: (act: () => void) => void;
  /** Calls back once all that has arrived is taken, in the kernel, too: nothing more has come for a turn of the loop. */
  readonly whenQuiet: (act: () => void) => void;
};

export type ReadingOptions = {
  /** So much is taken as it arrives. Default: an ordinary answer; of another socket than `peerSocket` all, for what lies below it is paced. */
  readonly directBytesMax?: number;
};

/** An ordinary answer. It is taken at once, so that it costs nothing to share the loop with others. */
const ordinaryBytesMax = 4 * 1024;
const pieceBytes = 16 * 1024;

/** Where the bytes of every peer arrive: nothing is kept there beyond the callback. */
const arrivals = Buffer.allocUnsafeSlow(pieceBytes);

/** Gets what has arrived; false: no more for now. */
type Arrive = (bytes: Buffer) => boolean;

const arriveKey = Symbol('arrive');
const earlyKey = Symbol('early');

/** A socket of `peerSocket`: who reads it, or what it has brought before anybody did. */
type PeerSocket = Socket & { [arriveKey]?: Arrive | undefined; [earlyKey]?: Buffer | undefined };

/** A socket that brings its bytes in pieces, copied from one buffer. Node's streams would fill 64 KiB for each read, and 64 more when paused. */
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
  if (!(arriveKey in socket)) {
    socket.on('data', (bytes: Buffer) => {
      if (!arrive(bytes)) socket.pause();
    });
    return;
  }
  socket[arriveKey] = arrive;
  const early = socket[earlyKey];
  socket[earlyKey] = undefined;
  // Not at once: the reader does not have its `Reading` yet.
  if (early)
    queueMicrotask(() => {
      if (arrive(early)) socket.resume();
    });
}

/** One event loop, one order of turns. */
const ofProcess: Slices = slices({ monotonicMs: () => performance.now(), nextTurn: setImmediate });

/** Tells `reader` what comes, in its order: no end is told before all that came before it is taken. */
export function readSocket(socket: Socket, reader: Reader, options: ReadingOptions = {}): Reading {
  const { directBytesMax = arriveKey in socket ? ordinaryBytesMax : Number.POSITIVE_INFINITY } = options;
  const resumes = resumesOf(socket);
  let directBytes = 0;
  let arrivedCount = 0;
  let rest: Buffer | undefined;
  let isHeld = false;
  /** What came behind the rest. */
  let behind: (() => void)[] = [];

  const take = (bytes: Buffer) => {
    resumes();
    reader.take(bytes);
  };
  const inOrder = (act: () => void) => {
    if (rest !== undefined) return void behind.push(act);
    resumes();
    act();
  };
  const takePiece = (): boolean => {
    if (rest === undefined || isHeld) return false;
    const piece = rest.subarray(0, pieceBytes);
    const isLast = piece.length === rest.length;
    rest = isLast ? undefined : rest.subarray(pieceBytes);
    take(piece);
    if (isLast) goOn();
    return !isLast && !isHeld;
  };
  const goOn = () => {
    const acts = behind;
    behind = [];
    for (const act of acts) act();
    if (!isHeld) socket.resume();
  };
  const whenTaken = (act: () => void) => {
    if (rest === undefined && socket.readableLength === 0) act();
    else behind.push(() => whenTaken(act));
  };
  const whenQuiet = (act: () => void) => {
    if (rest !== undefined) return void behind.push(() => whenQuiet(act));
    const before = arrivedCount;
    // The kernel has more than one read brings, and this turn may be past its reads.
    setImmediate(() => setImmediate(() => (arrivedCount === before ? act() : whenQuiet(act))));
  };
  onBytes(socket, (bytes) => {
    arrivedCount += 1;
    if (directBytes + bytes.length <= directBytesMax) {
      directBytes += bytes.length;
      take(bytes);
      return !isHeld;
    }
    rest = bytes;
    ofProcess.add(takePiece);
    return false;
  });
  socket.on('end', () => inOrder(reader.ended));
  socket.on('error', (error: NodeJS.ErrnoException) => inOrder(() => reader.failed(error)));
  socket.on('close', () => inOrder(reader.closed));
  return {
    hold: () => {
      isHeld = true;
      socket.pause();
    },
    release: () => {
      if (!isHeld) return;
      isHeld = false;
      if (rest === undefined) socket.resume();
      else ofProcess.add(takePiece);
    },
    whenTaken,
    whenQuiet,
  };
}
