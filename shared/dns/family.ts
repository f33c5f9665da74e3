/**
 * All that is asked about one name and one family: the servers in order, round after round, as Go's resolver does. Unlike Go, a server that
 * is slow is still listened to while the next one is asked, since a lookup as a whole has half a second.
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
  /** A server that has not answered by then is not waited for alone. */
  readonly tryMs: number;
  /** The lookup's socket to a server; undefined: TCP only. */
  readonly udpTo: (server: Server) => UdpSocket | undefined;
  readonly tcp: TcpPool;
};

const noServer: Answer = { kind: 'failed', message: 'server misbehaving' };

/** Calls `done` once, unless the returned function ends it first. It sets no limit to the time of the whole. */
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
      answer = { kind: 'failed', message: reply.message };
      // Of an earlier try nobody waits any more, unless it was the last that was open.
      if (attempt === tries || open.size === 0) next();
    });
    open.set(server, asking);
  };
  queueMicrotask(next);
  return end;
}
