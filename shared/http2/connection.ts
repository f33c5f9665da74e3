/** The client's end of one HTTP/2 connection over a socket: preface and SETTINGS, answers to PING, reading, and back-pressure. */
import type { Socket } from 'node:net';
import { type Reading, readSocket } from '../net/reading.ts';
import { type ConnectionFault, flag, frame, frameReader, frameType } from './frames.ts';
import { type InboundOptions, inbound } from './inbound.ts';
import type { InboundEvents } from './inbound-events.ts';

/** Why nothing more will come. */
export type Lost =
  /** The peer ended its side, or closed the connection. */
  | { readonly kind: 'ended' }
  | { readonly kind: 'socket'; readonly error: NodeJS.ErrnoException }
  /** The peer broke the protocol. */
  | { readonly kind: 'fault'; readonly fault: ConnectionFault };

export type ConnectionEvents = Omit<InboundEvents, 'ping'> & {
  /** A PING came; it is answered unless this ends the connection. */
  readonly pinged: () => ConnectionFault | undefined;
  /** Told once, at the latest when the socket has closed; not after `close`. */
  readonly lost: (why: Lost) => void;
};

export type Http2Connection = {
  /** Sends whole frames. */
  readonly write: (frames: Uint8Array) => void;
  /** Destroys the socket. Nothing is told any more. */
  readonly close: () => void;
} & Pick<Reading, 'whenTaken' | 'whenQuiet'>;

const preface = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 'latin1');
const settingBytes = 6;

/** Beyond so much that the peer has not read, nothing more is read from it, as Go's client would stand still in its write. */
const unsentBytesMax = 64 * 1024;

/** Takes `socket` over. The caller writes first: `clientGreeting`, and what may follow it at once. */
export function connectHttp2(socket: Socket, events: ConnectionEvents, options: InboundOptions): Http2Connection {
  let isOpen = true;
  // The acknowledgement of SETTINGS and a request must not wait for each other.
  socket.setNoDelay(true);
  const write = (frames: Uint8Array) => {
    if (!isOpen) return;
    socket.write(frames);
    if (socket.writableLength > unsentBytesMax) reading.hold();
  };
  const close = () => {
    isOpen = false;
    socket.destroy();
  };
  const lose = (why: Lost) => {
    if (!isOpen) return;
    close();
    events.lost(why);
  };
  const ping = (payload: Uint8Array) => {
    const fault = events.pinged();
    if (!fault) write(frame(frameType.ping, { flags: flag.ack }, payload));
    return fault;
  };
  const read = frameReader(inbound({ ...events, ping }, options));
  const reading = readSocket(socket, {
    take: (bytes) => {
      if (!isOpen) return;
      const fault = read(bytes);
      if (fault) lose({ kind: 'fault', fault });
    },
    ended: () => lose({ kind: 'ended' }),
    failed: (error) => lose({ kind: 'socket', error }),
    closed: () => lose({ kind: 'ended' }),
  });
  socket.on('drain', reading.release);
  return { write, close, whenTaken: reading.whenTaken, whenQuiet: reading.whenQuiet };
}

export type Greeting = {
  /** What this side announces: identifiers and values of SETTINGS. */
  readonly settings: readonly (readonly [id: number, value: number])[];
  /** What it grants for the whole connection beyond the initial window, bytes; 0: nothing. */
  readonly windowBytes: number;
};

/** What a client sends first. */
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
