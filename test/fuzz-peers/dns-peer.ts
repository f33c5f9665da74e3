/** The hostile DNS server for all exchanges, on UDP and TCP. The name in a question identifies the exchange. */
import { createSocket, type RemoteInfo } from 'node:dgram';
import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { echoed, exchangeIn } from './dns-messages.ts';
import type { Piece, Reply } from './kind.ts';

const host = '127.0.0.1';
const lengthBytes = 2;
/** Of a flood so many datagrams are sent in a row; then others have their turn. */
const datagramsInTurn = 16;
/** A lookup is long over by then. */
const floodMsMax = 1_000;

const exchanges: Reply[] = [];

/** Returns the number of the exchange. */
export const openDns = (reply: Reply): number => exchanges.push(reply) - 1;

/** Returns the port. */
export async function startDns(): Promise<number> {
  const tcp = createServer({ noDelay: true }, serve);
  tcp.listen(0, host);
  await once(tcp, 'listening');
  const address = tcp.address();
  const port = typeof address === 'object' ? (address?.port ?? 0) : 0;
  const udp = createSocket('udp4');
  udp.on('message', (query, peer) => {
    const { datagrams = [] } = exchanges[exchangeIn(query, 0)] ?? {};
    const send = (bytes: Buffer) => udp.send(bytes, peer.port, peer.address, () => undefined);
    void sendAll(datagrams, { query, send });
  });
  udp.bind(port, host);
  await once(udp, 'listening');
  return port;
}

type Sending = { readonly query: Buffer; readonly send: (bytes: Buffer, peer?: RemoteInfo) => void };

async function sendAll(datagrams: readonly Piece[], { query, send }: Sending): Promise<void> {
  const untilMs = performance.now() + floodMsMax;
  for (const { bytes, times } of datagrams) {
    const message = echoed(bytes, query, 0);
    for (let time = 1; time <= times && performance.now() < untilMs; time += 1) {
      send(message);
      if (time % datagramsInTurn === 0) await nextTurn();
    }
  }
}

const nextTurn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

function serve(socket: Socket): void {
  socket.on('error', () => undefined);
  socket.once('data', async (query: Buffer) => {
    socket.resume();
    const reply = exchanges[exchangeIn(query, lengthBytes)];
    for (const { bytes, times } of reply?.pieces ?? []) {
      const message = echoed(bytes, query, lengthBytes);
      for (let time = 0; time < times && !socket.destroyed; time += 1) {
        if (socket.write(message)) continue;
        await Promise.race([once(socket, 'drain'), once(socket, 'close')]).catch(() => undefined);
      }
    }
    if (!reply?.isHeld) socket.end();
  });
}
