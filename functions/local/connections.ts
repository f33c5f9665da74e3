/**
 * Connections to the API are bounded, so that clients cannot take the descriptors of the prober. A client that says nothing makes way for
 * a new one before anybody is refused.
 */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** How long a client may take. A response, `/v1/watch` for one, may take longer. */
export type ConnectionTimeouts = {
  readonly headersTimeout: number;
  readonly requestTimeout: number;
  readonly keepAliveTimeout: number;
  /** How often Node looks for the first two. */
  readonly connectionsCheckingInterval: number;
};

export const connectionTimeouts: ConnectionTimeouts = {
  headersTimeout: 10_000,
  requestTimeout: 30_000,
  keepAliveTimeout: 5_000,
  connectionsCheckingInterval: 2_000,
};

/** Idle connections are closed from here on. The rest is for clients that arrive before their descriptors are free. */
const fullPart = 3 / 4;

/** To be called before the server listens. Beyond `max` a connection is closed as soon as it is accepted. */
export function boundConnections(server: Pick<Server, 'maxConnections' | 'on'>, max: number): void {
  server.maxConnections = max;
  /** How many requests of each are under way; who has been idle for longest comes first. */
  const underWay = new Map<Socket, number>();

  server.on('connection', (socket: Socket) => {
    underWay.set(socket, 0);
    socket.once('close', () => underWay.delete(socket));
    if (underWay.size > max * fullPart) oldestIdle(underWay, socket)?.destroy();
  });
  server.on('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
    underWay.set(socket, (underWay.get(socket) ?? 0) + 1);
    response.once('close', () => {
      const before = underWay.get(socket);
      // Taken out first, so that it comes last. A connection that has closed is out already.
      if (before !== undefined && underWay.delete(socket)) underWay.set(socket, before - 1);
    });
  });
}

function oldestIdle(underWay: ReadonlyMap<Socket, number>, newest: Socket): Socket | undefined {
  for (const [socket, requests] of underWay)
    if (requests === 0 && socket !== newest && !socket.destroyed) return socket;
  return undefined;
}
