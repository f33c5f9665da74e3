/**
 * Limits connections to the API, so that clients cannot use up the prober's file descriptors. An idle client is
 * disconnected before a new one is rejected.
 */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';

/** Time limits for a client's requests. A response, such as `/v1/watch`, may take longer. */
export type ConnectionTimeouts = {
  readonly headersTimeout: number;
  readonly requestTimeout: number;
  readonly keepAliveTimeout: number;
  /** How often Node checks the first two limits. */
  readonly connectionsCheckingInterval: number;
};

export const connectionTimeouts: ConnectionTimeouts = {
  headersTimeout: 10_000,
  requestTimeout: 30_000,
  keepAliveTimeout: 5_000,
  connectionsCheckingInterval: 2_000,
};

/**
 * Above this share of the limit, idle connections are closed. The rest is for clients that connect before closed
 * descriptors are free.
 */
const fullPart = 3 / 4;

/** The server emits it with the stream of each new connection. */
export const clientEvent = 'client';

/** Call before the server listens. Beyond `max`, connections are closed as soon as they are accepted. */
export function boundConnections(server: Pick<Server, 'maxConnections' | 'on'>, max: number): void {
  server.maxConnections = max;
  /** The number of requests in progress on each connection. The connection that has been idle longest comes first. */
  const underWay = new Map<Duplex, number>();

  server.on(clientEvent, (socket: Duplex) => {
    underWay.set(socket, 0);
    socket.once('close', () => underWay.delete(socket));
    if (underWay.size > max * fullPart) oldestIdle(underWay, socket)?.destroy();
  });
  server.on('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
    underWay.set(socket, (underWay.get(socket) ?? 0) + 1);
    response.once('close', () => {
      const before = underWay.get(socket);
      // Removes and adds the entry, so that it comes last. A closed connection has already been removed.
      if (before !== undefined && underWay.delete(socket)) underWay.set(socket, before - 1);
    });
  });
}

function oldestIdle(underWay: ReadonlyMap<Duplex, number>, newest: Duplex): Duplex | undefined {
  for (const [socket, requests] of underWay)
    if (requests === 0 && socket !== newest && !socket.destroyed) return socket;
  return undefined;
}
