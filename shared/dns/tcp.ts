/**
 * DNS over TCP, for answers that do not fit in a datagram: one question for each connection (RFC 1035, section 4.2.2).
 */
import { Socket } from 'node:net';
import type { Server } from './udp-socket.ts';

/** At this limit an exchange waits until another one ends. Each socket holds a file descriptor and at most 64 KiB. */
export const tcpSocketsMax = 8;

export type TcpListener = {
  readonly take: (message: Buffer) => void;
  /** `code` is a system error code, or `EOF` if the server closes the connection early. */
  readonly fail: (code: string) => void;
};

export type TcpPool = {
  /**
   * Sends `query`, which already contains its id. Calls one function of the listener once, unless the returned function
   * ends the exchange first.
   */
  ask(server: Server, query: Buffer, listener: TcpListener): () => void;
};

export function tcpPool(): TcpPool {
  const waiting = new Set<() => void>();
  let open = 0;
  const closed = () => {
    open -= 1;
    const [next] = waiting;
    if (next === undefined) return;
    waiting.delete(next);
    next();
  };
  return {
    ask(server, query, listener) {
      let end = (): void => void waiting.delete(begin);
      const begin = () => {
        open += 1;
        end = exchange(server, query, { ...listener, closed });
      };
      if (open < tcpSocketsMax) begin();
      else waiting.add(begin);
      return () => end();
    },
  };
}

type ExchangeListener = TcpListener & { readonly closed: () => void };

function exchange(server: Server, query: Buffer, { take, fail, closed }: ExchangeListener): () => void {
  const socket = new Socket();
  const reading = messageReader();
  let isOver = false;
  const over = (report?: () => void) => {
    if (isOver) return;
    isOver = true;
    socket.destroy();
    report?.();
  };
  socket.once('close', closed);
  socket.on('error', ({ code }: NodeJS.ErrnoException) => over(() => fail(code ?? 'EUNKNOWN')));
  socket.on('end', () => over(() => fail('EOF')));
  socket.on('data', (chunk: Buffer) => {
    const message = reading(chunk);
    if (message !== undefined) over(() => take(message));
  });
  socket.connect({ host: server.address, port: server.port, autoSelectFamily: false });
  const length = Buffer.alloc(lengthBytes);
  length.writeUInt16BE(query.length);
  socket.write(Buffer.concat([length, query]));
  return () => over();
}

const lengthBytes = 2;

/** Returns a function that takes the next chunk and returns the message once it is complete. */
function messageReader(): (chunk: Buffer) => Buffer | undefined {
  const length = Buffer.alloc(lengthBytes);
  let lengthRead = 0;
  let message: Buffer | undefined;
  let messageRead = 0;
  return (chunk) => {
    let at = 0;
    if (message === undefined) {
      at = chunk.copy(length, lengthRead);
      lengthRead += at;
      if (lengthRead < lengthBytes) return undefined;
      message = Buffer.alloc(length.readUInt16BE());
    }
    messageRead += chunk.copy(message, messageRead, at);
    return messageRead === message.length ? message : undefined;
  };
}
