/** Limits the UDP sockets of a DNS client, because the process needs its file descriptors for probes. */
import { type Below, type Server, type UdpSocket, udpSocket } from './udp-socket.ts';

/** Above this limit, lookups to the same server share sockets, and therefore their random source ports. */
export const udpSocketsMax = 32;

export type UdpPool = {
  /** Returns a socket to `server` for one lookup; `close` releases it. */
  open(server: Server): UdpSocket;
};

type Shared = { readonly socket: UdpSocket; readonly server: Server; users: number };

/** Opens at most `udpSocketsMax` sockets, and one more for each server that has none at that point. */
export function udpPool(below: Below): UdpPool {
  const open = new Set<Shared>();
  const shareable = (server: Server): Shared | undefined => {
    if (open.size < udpSocketsMax) return undefined;
    const alike = [...open].filter((each) => isSame(each.server, server));
    return alike[below(Math.max(1, alike.length))];
  };
  return {
    open(server) {
      const shared = shareable(server) ?? { socket: udpSocket(server, below), server, users: 0 };
      shared.users += 1;
      open.add(shared);
      return {
        ask: shared.socket.ask,
        close() {
          shared.users -= 1;
          if (shared.users > 0) return;
          open.delete(shared);
          shared.socket.close();
        },
      };
    },
  };
}

const isSame = (one: Server, other: Server): boolean => one.address === other.address && one.port === other.port;
