/** The local address from which the machine would send, found as in Go: a connected UDP socket, which sends nothing. */
import { createSocket } from 'node:dgram';
import { isIPv6 } from 'node:net';
import { shortageOf } from '../core/self/sockets.ts';
import type { Source } from './address-order.ts';

/** Rejects if the machine has no free socket, which says nothing about the address. */
export type SourceOf = (address: string) => Promise<Source>;

/** Nothing is sent, so the port does not matter. */
const anyPort = 53;

export const udpSource: SourceOf = (address) =>
  new Promise((resolve, reject) => {
    const socket = createSocket(isIPv6(address) ? 'udp6' : 'udp4');
    const failed = (error: NodeJS.ErrnoException) => {
      socket.close();
      if (shortageOf(error.code) === 'sockets') reject(error);
      else resolve(undefined);
    };
    socket.once('error', failed);
    socket.once('connect', () => {
      const source = socket.address().address;
      socket.close();
      resolve(source);
    });
    socket.connect(anyPort, address);
  });
