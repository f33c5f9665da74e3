/**
 * A UDP socket to one DNS server. It is connected, so that the kernel drops datagrams from other senders and reports a
 * closed port. Concurrent questions may share it; each has a distinct id.
 */
import { createSocket, type Socket } from 'node:dgram';
import { isIPv6 } from 'node:net';
import { datagramBytesMax, headerBytes } from './query.ts';

export type Server = { readonly address: string; readonly port: number };

/** Returns an unpredictable integer from 0 to `limit` - 1. */
export type Below = (limit: number) => number;

export type UdpListener = {
  /** Returns true if the message is the reply, which ends the question. */
  readonly take: (message: Buffer) => boolean;
  /** The question failed: the system could not send or receive. `code` is its error code. */
  readonly fail: (code: string) => void;
};

export type UdpQuestion = {
  /** Sends the question again. */
  readonly repeat: () => void;
  readonly end: () => void;
};

export type UdpSocket = {
  /** Sends `query` under an id that no other question on this socket uses. */
  ask(query: Buffer, newListener: (id: number) => UdpListener): UdpQuestion;
  close(): void;
};

const ids = 0x10000;
const idTriesMax = 16;

/**
 * Opens a socket whose source port the kernel chooses at random. Never throws; errors go to the listeners of the open
 * questions.
 */
export function udpSocket(server: Server, below: Below): UdpSocket {
  const listeners = new Map<number, UdpListener>();
  const socket = createSocket({ type: isIPv6(server.address) ? 'udp6' : 'udp4', lookup: literalLookup });
  let isConnected = false;
  let lostBy: string | undefined;
  const fail = ({ code = 'EUNKNOWN' }: NodeJS.ErrnoException) => {
    if (!isConnected) lostBy = code;
    const failed = [...listeners.values()];
    listeners.clear();
    for (const listener of failed) listener.fail(code);
  };
  socket.on('error', fail);
  socket.on('message', (message) => {
    const id = message.length < headerBytes ? -1 : message.readUInt16BE(0);
    if (listeners.get(id)?.take(message.subarray(0, datagramBytesMax))) listeners.delete(id);
  });
  /** Messages that wait until the socket is connected. */
  const unsent = new Set<Buffer>();
  socket.once('connect', () => {
    isConnected = true;
    for (const message of unsent) sendOn(socket, message, fail);
    unsent.clear();
  });
  socket.connect(server.port, server.address);
  const send = (message: Buffer) => {
    if (isConnected) sendOn(socket, message, fail);
    else unsent.add(message);
  };
  return {
    ask(query, newListener) {
      const id = freeId(listeners, below);
      const listener = newListener(id);
      const message = withId(query, id);
      const isOpen = () => listeners.get(id) === listener;
      const refusal = listeners.has(id) ? 'EBUSY' : lostBy;
      if (refusal !== undefined) queueMicrotask(() => listener.fail(refusal));
      else {
        listeners.set(id, listener);
        send(message);
      }
      return {
        repeat: () => {
          if (isOpen()) send(message);
        },
        end: () => {
          if (isOpen()) listeners.delete(id);
        },
      };
    },
    close: () => void socket.close(),
  };
}

/**
 * Server addresses are literals. Without this function Node would call `dns.lookup`, which occupies a thread of its
 * pool.
 */
const literalLookup = (
  address: string,
  _: unknown,
  done: (error: NodeJS.ErrnoException | null, address: string, family: number) => void,
): void => done(null, address, isIPv6(address) ? 6 : 4);

/** Returns an id that is probably free: after `idTriesMax` tries it may return a used one. */
function freeId(taken: ReadonlyMap<number, unknown>, below: Below): number {
  let id = below(ids);
  for (let tries = 1; taken.has(id) && tries < idTriesMax; tries += 1) id = below(ids);
  return id;
}

function withId(query: Buffer, id: number): Buffer {
  const message = Buffer.from(query);
  message.writeUInt16BE(id, 0);
  return message;
}

function sendOn(socket: Socket, message: Buffer, fail: (error: NodeJS.ErrnoException) => void): void {
  socket.send(message, (error) => {
    if (error) fail(error);
  });
}
