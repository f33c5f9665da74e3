/** Asks one question of one server, over UDP first and over TCP if the answer does not fit in a datagram. */
import type { Question } from './query.ts';
import { type Answer, type Reply, readReply } from './reply.ts';
import type { TcpPool } from './tcp.ts';
import type { Below, Server, UdpSocket } from './udp-socket.ts';

export type Useless = Extract<Reply, { kind: 'useless' }>;

export type Exchange = {
  /** Sends the question again in case the datagram was lost. Has no effect once the question is sent over TCP. */
  readonly repeat: () => void;
  readonly end: () => void;
};

export type ExchangeRequest = { readonly server: Server; readonly question: Question; readonly query: Buffer };

export type ExchangePorts = {
  /** A socket connected to the server. If absent, only TCP is used. */
  readonly udp?: UdpSocket;
  readonly tcp: TcpPool;
  readonly below: Below;
};

type Done = (reply: Answer | Useless) => void;

/** Calls `done` exactly once, after this function has returned, unless the caller ends the exchange first. */
export function exchange(request: ExchangeRequest, { udp, tcp, below }: ExchangePorts, done: Done): Exchange {
  if (udp === undefined) return { repeat: ignore, end: overTcp(request, { tcp, id: below(0x10000) }, done) };
  let end: () => void = ignore;
  const asked = udp.ask(request.query, (id) => ({
    take(message) {
      const reply = readReply(message, { ...request.question, id }, false);
      // A forged reply must not keep the true one out (go.dev/issue/13281).
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

/** Go's error texts. */
const texts: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused',
  ECONNRESET: 'connection reset by peer',
  EHOSTUNREACH: 'no route to host',
  ENETUNREACH: 'network is unreachable',
  EMFILE: 'too many open files',
  EOF: 'unexpected EOF',
};

const lost = (code: string): Useless => ({ kind: 'useless', message: texts[code] ?? code, code });
