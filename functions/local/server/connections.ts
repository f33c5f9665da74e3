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
/**
 * Beside more connections without a request than these, one of them is no supervisor's. They fit into what a full
 * server keeps free: otherwise as many would fill it, and new clients would be closed until these are no longer new.
 */
const newMax = (max: number): number => Math.max(1, Math.min(8, Math.floor(max * (1 - fullPart))));
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
    if (underWay.size > max * fullPart) leastMissed(underWay, newMax(max), performance.now())?.destroy();
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
 * The connection that has been idle for longest, unless it is one of so many new ones; or else the one whose request
 * has waited for longest; or else the one whose body has: while it is not read, nothing shows that its client has gone.
 */
export function leastMissed(
  underWay: ReadonlyMap<Connection, Use>,
  newMax: number,
  nowMs: number,
): Connection | undefined {
  let [idle, waiting, sending]: Connection[] = [];
  let isIdleNew = false;
  let newer = 0;
  for (const [socket, { requests, sinceMs }] of underWay) {
    if (socket.destroyed) continue;
    const ms = nowMs - sinceMs;
    if (requests === 0 && !socket.isWaiting) {
      if (idle === undefined) {
        idle = socket;
        isIdleNew = ms < idleMsMin;
      } else newer += 1;
    } else if (ms < waitMsMin) continue;
    else if (requests === 0) waiting ??= socket;
    else if (socket.isSending) sending ??= socket;
  }
  return isIdleNew && newer < newMax ? (waiting ?? sending) : (idle ?? waiting ?? sending);
}
