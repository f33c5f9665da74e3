/**
 * The stream between a client's socket and Node's HTTP parser. Node would pass 64 KiB of each connection to the parser
 * at once, and every request in them would be handled in that turn of the event loop; an HTTP server has no way to
 * refuse them earlier. This stream hands on pieces that begin at most one request, each when it is its turn, and none
 * while the connection's last request is being answered. What is not handed on stays in the kernel.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import type { Slices } from '../../../shared/lib/slices.ts';
import type { ClientTurns } from './client-turns.ts';

/** Chunks of one byte are the most expensive content: so many bytes of them take 2 ms. */
const pieceBytesMax = 4 * 1024;
/** Read ahead of the parser, to notice that a client which waits has gone. One read of Node may exceed it. */
const restBytesMax = 16 * 1024;
/** What a supervisor asks first. The answer is short, and made of what is known. */
export const healthPath = '/healthz';
const supervisorsRequest = Buffer.from(`GET ${healthPath} `);
/** Ends the head of each request, and each body in chunks. */
const headEnd = Buffer.from('\r\n\r\n');

export type ClientPorts = {
  readonly turns: ClientTurns;
  /** The clients that have not read what was written to them; the first has not for longest. */
  readonly unread: Map<ClientStream, number>;
};

/** Takes ownership of `socket`. */
export class ClientStream extends Duplex {
  /** It has shown a valid token, or none is asked for. */
  isKnown = false;
  /** Its first request has not been found yet. */
  #isNew = true;
  readonly #socket: Socket;
  readonly #ports: ClientPorts;
  #rest: Buffer | undefined;
  /** The client has closed its sending side. */
  #isEnded = false;
  /** The parser asks for more. */
  #isWanted = false;
  #answersUnderWay = 0;
  #last: IncomingMessage | undefined;

  constructor(socket: Socket, ports: ClientPorts) {
    super({ readableHighWaterMark: 1 });
    this.#socket = socket;
    this.#ports = ports;
    socket.on('data', (bytes: Buffer) => this.#arrive(bytes));
    socket.on('end', () => this.#end());
    socket.on('error', (error) => this.destroy(error));
    socket.on('close', () => this.destroy());
    socket.on('timeout', () => {
      // A client that waits for its turn is not idle.
      if (this.#rest === undefined) this.emit('timeout');
    });
  }

  /** The client has sent something whose turn has not come. */
  get isWaiting(): boolean {
    return this.#rest !== undefined;
  }

  /** A request is in progress, not all of which has been read. */
  get isSending(): boolean {
    return this.#answersUnderWay > 0 && this.#last?.complete === false;
  }

  /** Call for each request that the parser has found: nothing more is read until it is answered. */
  answering(request: IncomingMessage, response: ServerResponse): void {
    this.#isNew = false;
    this.#last = request;
    this.#answersUnderWay += 1;
    response.once('close', () => {
      this.#answersUnderWay -= 1;
      this.#goOn();
    });
  }

  /** Node's server sets the time-out of idle connections so. */
  setTimeout(ms: number, callback?: () => void): this {
    if (callback) this.once('timeout', callback);
    this.#socket.setTimeout(ms);
    return this;
  }

  /** Node's server ends a connection so after its last answer. */
  destroySoon(): void {
    if (this.writable) this.end();
    if (this.writableFinished) this.destroy();
    else this.once('finish', () => this.destroy());
  }

  #arrive(bytes: Buffer): void {
    this.#rest = this.#rest ? Buffer.concat([this.#rest, bytes]) : bytes;
    if (this.#rest.length >= restBytesMax) this.#socket.pause();
    this.#goOn();
  }

  #end(): void {
    this.#isEnded = true;
    this.#endIfGone();
  }

  /** As for Node's server, a client that sends no more while it is answered has gone: it gets no other answers. */
  #endIfGone(): void {
    if (!this.#isEnded) return;
    if (this.#isAnswering()) this.#rest = undefined;
    if (this.#rest === undefined) this.push(null);
  }

  /** The body of the last request may still arrive while it is answered. */
  #isAnswering(): boolean {
    return this.#answersUnderWay > 0 && this.#last?.complete === true;
  }

  #goOn(): void {
    if (this.#isDue()) this.#turns().add(this.#handOn);
  }

  #turns(): Slices {
    const { supervisors, known, newcomers, strangers } = this.#ports.turns;
    if (this.#isNew && this.#rest && isOfSupervisor(this.#rest)) return supervisors;
    if (this.isKnown) return known;
    return this.#isNew ? newcomers : strangers;
  }

  #isDue(): boolean {
    return this.#rest !== undefined && this.#isWanted && !this.#isAnswering() && !this.destroyed;
  }

  /** One function for the life of the stream, since its turns are known by identity. */
  readonly #handOn = (): boolean => {
    if (this.#rest === undefined || !this.#isDue()) return false;
    const piece = firstPiece(this.#rest);
    this.#rest = piece.length === this.#rest.length ? undefined : this.#rest.subarray(piece.length);
    this.#isWanted = false;
    this.push(piece);
    this.#endIfGone();
    if ((this.#rest?.length ?? 0) < restBytesMax) this.#socket.resume();
    return this.#isDue();
  };

  override _read(): void {
    this.#isWanted = true;
    this.#goOn();
  }

  override _write(bytes: Buffer, _: string, done: (error?: Error | null) => void): void {
    this.#written(bytes.length, done, (taken) => this.#socket.write(bytes, taken));
  }

  override _writev(parts: readonly { readonly chunk: Buffer }[], done: (error?: Error | null) => void): void {
    const bytes = parts.map(({ chunk }) => chunk);
    const length = bytes.reduce((sum, { length: each }) => sum + each, 0);
    this.#written(length, done, (taken) => {
      this.#socket.cork();
      for (const [at, chunk] of bytes.entries()) this.#socket.write(chunk, at === bytes.length - 1 ? taken : undefined);
      this.#socket.uncork();
    });
  }

  /** Notes the client in `unread` while the kernel does not take what is written to it. */
  #written(length: number, done: (error?: Error | null) => void, write: (taken: Taken) => void): void {
    const { unread } = this.#ports;
    let isTaken = false;
    write((error) => {
      isTaken = true;
      if (this.writableLength <= length) unread.delete(this);
      done(error);
    });
    if (!isTaken && !unread.has(this) && !this.destroyed) unread.set(this, performance.now());
  }

  override _final(done: (error?: Error | null) => void): void {
    this.#socket.end(done);
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#rest = undefined;
    this.#ports.unread.delete(this);
    this.#socket.destroy();
    done(error);
  }
}

type Taken = (error?: Error | null) => void;

const isOfSupervisor = (bytes: Buffer): boolean =>
  bytes.subarray(0, supervisorsRequest.length).equals(supervisorsRequest);

/** Begins at most one request, behind the end of the body of another one. */
function firstPiece(bytes: Buffer): Buffer {
  const most = bytes.subarray(0, pieceBytesMax);
  const end = most.indexOf(headEnd);
  return end < 0 ? most : most.subarray(0, end + headEnd.length);
}
