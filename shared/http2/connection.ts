/**
 * The client side of one HTTP/2 connection over a socket: preface, SETTINGS, PING replies, reading and back-pressure.
 */
import type { Socket } from 'node:net';
import type { Clock } from '../lib/clock.ts';
import { type Reading, readSocket } from '../net/reading.ts';
import { type ConnectionFault, errorCode, errorName, FrameReader, fault, flag, frame, frameType } from './frames.ts';
import { HealthCheck, type HealthCheckPorts, isHealthCheckDue } from './health-check.ts';
import { Inbound, type InboundEvents, type InboundOptions } from './inbound.ts';

/** Why the connection is over. */
export type Lost =
  /** The peer closed its sending side or the connection. */
  | { readonly kind: 'ended' }
  | { readonly kind: 'socket'; readonly error: NodeJS.ErrnoException }
  /** The peer has not answered the PING of a health check. */
  | { readonly kind: 'silent' }
  /** The peer violated the protocol. */
  | { readonly kind: 'fault'; readonly fault: ConnectionFault };

/** The text of a lost connection. `ended`: what the client says of a peer that closed it. */
export function lostText(lost: Lost, ended: string): string {
  if (lost.kind === 'ended') return ended;
  if (lost.kind === 'silent') return 'http2: client connection lost';
  if (lost.kind === 'socket') return `read: ${lost.error.code ?? lost.error.message}`;
  return `connection error: ${errorName(lost.fault.code)}: ${lost.fault.message}`;
}

export const beforeSettings = fault(errorCode.protocol, 'a frame before SETTINGS');

export type ConnectionEvents = InboundEvents & {
  /** A PING arrived. It is answered unless this function returns a fault. */
  readonly pinged: () => ConnectionFault | undefined;
  /** What arrived together has been read, the connection still open. What is written now leaves with the replies. */
  readonly taken?: () => void;
  /** Called at most once, no later than the close of the socket, never after `close` or `drop`. */
  readonly lost: (why: Lost) => void;
};

export type Http2Connection = {
  /** Sends complete frames: at once or, while what arrived together is being read, after that. */
  readonly write: (frames: Uint8Array) => void;
  /** Sends what waits and destroys the socket. No event follows. */
  readonly close: () => void;
  /** Destroys the socket at once. No event follows. */
  readonly drop: () => void;
} & Pick<Reading, 'whenTaken' | 'whenQuiet'>;

const preface = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 'latin1');
const settingBytes = 6;

/**
 * With more unsent bytes than this, reading stops until the socket drains. Go's client would block in its write
 * instead.
 */
const unsentBytesMax = 64 * 1024;

export type ConnectionOptions = InboundOptions & {
  /** Absent: the connection is not checked, as grpc-go's is not. `untilMs`: its end, on the monotonic time. */
  readonly health?: { readonly clock: Clock; readonly untilMs: number };
};

/** Takes ownership of `socket`. The caller must first write `clientGreeting`; the request may follow immediately. */
export function connectHttp2(socket: Socket, events: ConnectionEvents, options: ConnectionOptions): Http2Connection {
  let isOpen = true;
  /** What is sent once all that arrived together is read; undefined: nothing is being read. */
  let unsent: Uint8Array[] | undefined;
  // Without Nagle's algorithm, the SETTINGS acknowledgement and the request do not delay each other.
  socket.setNoDelay(true);
  const write = (frames: Uint8Array) => {
    if (!isOpen) return;
    if (unsent !== undefined) return void unsent.push(frames);
    socket.write(frames);
    if (socket.writableLength > unsentBytesMax) reading.hold();
  };
  const flush = () => {
    const [first, ...more] = unsent ?? [];
    unsent = undefined;
    if (first !== undefined) write(more.length === 0 ? first : Buffer.concat([first, ...more]));
  };
  const drop = () => {
    isOpen = false;
    check?.end();
    unsent = undefined;
    socket.destroy();
  };
  const close = () => {
    flush();
    drop();
  };
  const lose = (why: Lost) => {
    if (!isOpen) return;
    close();
    events.lost(why);
  };
  const check = startCheck(options, { write, silent: () => lose({ kind: 'silent' }) });
  const frames = new FrameReader(new Inbound(events, answerTo(events, write), check, options));
  const reading = readSocket(socket, {
    take: (bytes) => {
      if (!isOpen) return;
      unsent = [];
      const fault = frames.take(bytes);
      if (fault) return lose({ kind: 'fault', fault });
      if (isOpen) events.taken?.();
      flush();
    },
    ended: () => lose({ kind: 'ended' }),
    failed: (error) => lose({ kind: 'socket', error }),
    closed: () => lose({ kind: 'ended' }),
  });
  socket.on('drain', () => reading.release());
  return {
    write,
    close,
    drop,
    whenTaken: (act) => reading.whenTaken(act),
    whenQuiet: (act) => reading.whenQuiet(act),
  };
}

/** Answers each PING that is not a fault. */
const answerTo = (events: ConnectionEvents, write: Http2Connection['write']) => (payload: Uint8Array) => {
  const fault = events.pinged();
  if (!fault) write(frame(frameType.ping, { flags: flag.ack }, payload));
  return fault;
};

function startCheck({ health }: ConnectionOptions, ports: Omit<HealthCheckPorts, 'clock'>): HealthCheck | undefined {
  if (!health || !isHealthCheckDue(health.clock, health.untilMs)) return undefined;
  return new HealthCheck({ ...ports, clock: health.clock });
}

export type Greeting = {
  /** Identifiers and values for the client's SETTINGS frame. */
  readonly settings: readonly (readonly [id: number, value: number])[];
  /** Bytes to grant for the whole connection beyond the initial window; 0 for none. */
  readonly windowBytes: number;
};

/** Encodes the first bytes that a client sends. */
export function clientGreeting({ settings, windowBytes }: Greeting): Buffer {
  const payload = Buffer.alloc(settings.length * settingBytes);
  for (const [index, [id, value]] of settings.entries()) {
    payload.writeUInt16BE(id, index * settingBytes);
    payload.writeUInt32BE(value, index * settingBytes + 2);
  }
  const parts = [preface, frame(frameType.settings, {}, payload)];
  return Buffer.concat(windowBytes === 0 ? parts : [...parts, windowUpdate(0, windowBytes)]);
}

export const settingsAck: Uint8Array = frame(frameType.settings, { flags: flag.ack });

export function windowUpdate(streamId: number, increment: number): Buffer {
  const payload = Buffer.alloc(4);
  payload.writeUInt32BE(increment);
  return frame(frameType.windowUpdate, { streamId }, payload);
}
