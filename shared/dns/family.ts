/**
 * Resolves one name for one address family. It asks the servers in order, round after round, as Go's resolver does.
 * Unlike Go, it keeps listening to a slow server while it asks the next one, because a whole lookup has half a second.
 */
import type { Clock } from '../lib/clock.ts';
import { type Exchange, exchange } from './exchange.ts';
import { encodeQuery, type Question } from './query.ts';
import type { Answer } from './reply.ts';
import type { TcpPool } from './tcp.ts';
import type { Below, Server, UdpSocket } from './udp-socket.ts';

export type FamilyPorts = {
  readonly clock: Clock;
  readonly below: Below;
  /** In the order in which they are asked. */
  readonly servers: readonly Server[];
  /** How often each server is asked. */
  readonly attempts: number;
  /** How long to wait for one server before the next one is asked as well. */
  readonly tryMs: number;
  /** Returns the lookup's socket to a server, or undefined if only TCP is used. */
  readonly udpTo: (server: Server) => UdpSocket | undefined;
  readonly tcp: TcpPool;
};

const noServer: Answer = { kind: 'failed', message: 'server misbehaving' };

/** Calls `done` once, unless the returned function ends the lookup first. The caller limits the total time. */
export function askFamily(question: Question, ports: FamilyPorts, done: (answer: Answer) => void): () => void {
  const { clock, servers, attempts, tryMs } = ports;
  const query = encodeQuery(question);
  const open = new Map<Server, Exchange>();
  let tries = 0;
  let answer = noServer;
  let cancel = (): void => undefined;
  const end = () => {
    cancel();
    for (const each of open.values()) each.end();
    open.clear();
  };
  const next = () => {
    cancel();
    const server = tries < attempts * servers.length ? servers[tries % servers.length] : undefined;
    tries += 1;
    if (query === undefined) return done({ kind: 'notFound' });
    if (server === undefined) return open.size === 0 ? done(answer) : undefined;
    cancel = clock.setTimer(tryMs, next);
    const asked = open.get(server);
    if (asked === undefined) ask(server, query, tries);
    else asked.repeat();
  };
  const ask = (server: Server, message: Buffer, attempt: number) => {
    const udp = ports.udpTo(server);
    const request = { server, question, query: message };
    const asking = exchange(request, { ...ports, ...(udp && { udp }) }, (reply) => {
      open.delete(server);
      if (reply.kind !== 'useless') {
        end();
        return done(reply);
      }
      const { message, code } = reply;
      answer = { kind: 'failed', message, ...(code !== undefined && { code }) };
      // A failed earlier attempt does not start the next one, because a later attempt is already waiting, unless it was
      // the last one open.
      if (attempt === tries || open.size === 0) next();
    });
    open.set(server, asking);
  };
  queueMicrotask(next);
  return end;
}
