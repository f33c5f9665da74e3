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

/**
 * `isWaiting`: its client has sent something whose turn has not come. `isSending`: of a request in progress not all has
 * been read.
 */
export type Connection = Duplex & { readonly isWaiting?: boolean; readonly isSending?: boolean };

type Use = {
  readonly requests: number;
  /** When the number has changed last, by the monotonic clock. */
  readonly sinceMs: number;
};

/** What a client sends with its connection is read a few turns of the event loop later. */
const idleMsMin = 50;
/** Beside more connections without a request than these, one of them is no supervisor's. */
const newMax = 8;
/** A supervisor's request waits less. That of another client in a crowd gives way before a new client is rejected. */
const waitMsMin = 100;

/** Call before the server listens. Beyond `max`, connections are closed as soon as they are accepted. */
export function boundConnections(server: Pick<Server, 'maxConnections' | 'on'>, max: number): void {
  server.maxConnections = max;
  /** Requests in progress on each connection. The connection whose number has not changed for longest comes first. */
  const underWay = new Map<Connection, Use>();

  server.on(clientEvent, (socket: Connection) => {
    underWay.set(socket, { requests: 0, sinceMs: performance.now() });
    socket.once('close', () => underWay.delete(socket));
    if (underWay.size > max * fullPart) leastMissed(underWay, performance.now())?.destroy();
  });
  server.on('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
    const count = (change: number) => {
      const { requests = 0 } = underWay.get(socket) ?? {};
      // Removes and adds the entry, so that it comes last. A closed connection has already been removed.
      if (underWay.delete(socket)) underWay.set(socket, { requests: requests + change, sinceMs: performance.now() });
    };
    count(1);
    response.once('close', () => count(-1));
  });
}

/**
 * The connection that has been idle for longest; or else the one whose request has waited for longest; or else the one
 * whose body has: while it is not read, nothing shows that its client has gone.
 */
export function leastMissed(underWay: ReadonlyMap<Connection, Use>, nowMs: number): Connection | undefined {
  const without = [...underWay].filter(([socket, { requests }]) => requests === 0 && !socket.destroyed);
  const idle = without.filter(([{ isWaiting }]) => !isWaiting);
  const hasWaited = ([, { sinceMs }]: readonly [Connection, Use]) => nowMs - sinceMs >= waitMsMin;
  const [socket] =
    idle.find(([, { sinceMs }], at) => nowMs - sinceMs >= idleMsMin || idle.length - at > newMax) ??
    without.find(hasWaited) ??
    [...underWay].find((each) => each[0].isSending && !each[0].destroyed && hasWaited(each)) ??
    [];
  return socket;
}
