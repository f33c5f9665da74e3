/** One question to one server: over UDP first, and over TCP when its answer does not fit in a datagram. */
import type { Question } from './query.ts';
import { type Answer, type Reply, readReply } from './reply.ts';
import type { TcpPool } from './tcp.ts';
import type { Below, Server, UdpSocket } from './udp-socket.ts';

export type Useless = Extract<Reply, { kind: 'useless' }>;

export type Exchange = {
  /** A datagram may have been lost: sends the question once more, unless it is being asked over TCP. */
  readonly repeat: () => void;
  readonly end: () => void;
};

export type ExchangeRequest = { readonly server: Server; readonly question: Question; readonly query: Buffer };

export type ExchangePorts = {
  /** Connected to the server; absent: TCP only. */
  readonly udp?: UdpSocket;
  readonly tcp: TcpPool;
  readonly below: Below;
};

type Done = (reply: Answer | Useless) => void;

/** Calls `done` once, and never before it has returned, unless the exchange is ended first. */
export function exchange(request: ExchangeRequest, { udp, tcp, below }: ExchangePorts, done: Done): Exchange {
  if (udp === undefined) return { repeat: ignore, end: overTcp(request, { tcp, id: below(0x10000) }, done) };
  let end: () => void = ignore;
  const asked = udp.ask(request.query, (id) => ({
    take(message) {
      const reply = readReply(message, { ...request.question, id }, false);
      // A forgery must not keep the true reply out (go.dev/issue/13281).
      if (reply.kind === 'foreign') return false;
      if (reply.kind === 'truncated') end = overTcp(request, { tcp, id }, done);
      else done(reply);
      return true;
    },
    fail: (code) => done(lost(code)),
  }));
  return {
    repeat: asked.repeat,
    end() {
      asked.end();
      end();
    },
  };
}

const ignore = (): void => undefined;

type Connection = { readonly tcp: TcpPool; readonly id: number };

function overTcp({ server, question, query }: ExchangeRequest, { tcp, id }: Connection, done: Done): () => void {
  const message = Buffer.from(query);
  message.writeUInt16BE(id, 0);
  return tcp.ask(server, message, {
    take(bytes) {
      const reply = readReply(bytes, { ...question, id }, true);
      if (reply.kind === 'foreign' || reply.kind === 'truncated') done({ kind: 'useless', message: reply.message });
      else done(reply);
    },
    fail: (code) => done(lost(code)),
  });
}

/** In Go's words. */
const texts: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused',
  ECONNRESET: 'connection reset by peer',
  EHOSTUNREACH: 'no route to host',
  ENETUNREACH: 'network is unreachable',
  EMFILE: 'too many open files',
  EOF: 'unexpected EOF',
};

const lost = (code: string): Useless => ({ kind: 'useless', message: texts[code] ?? code });
