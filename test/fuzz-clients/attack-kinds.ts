/** The kinds of hostile clients of the API. Each opens connections, and does the same again until it is ended. */
import { connect, type Socket } from 'node:net';
import type { Random } from '../../shared/lib/random.ts';
import { type CostlyBody, costlyBodies } from './bodies.ts';

export type Attack = {
  readonly port: number;
  /** Absent in what an attacker without a token sends. */
  readonly token: string;
  readonly random: Random;
  /** No connection is opened once it is aborted; those that are open are closed. */
  readonly signal: AbortSignal;
};

export type AttackKind = {
  readonly name: string;
  readonly connections: number;
  /** Of each connection once it is open. Another one is opened when it closes. */
  readonly send: (socket: Socket, attack: Attack, at: number) => void;
};

const againMs = 50;

/** Until the signal is aborted. */
export function begin({ connections, send }: AttackKind, attack: Attack): void {
  const open = new Set<Socket>();
  const next = (at: number) => {
    if (attack.signal.aborted) return;
    const socket = connect(attack.port, '127.0.0.1');
    open.add(socket);
    socket.on('error', () => undefined);
    socket.on('connect', () => send(socket, attack, at));
    socket.on('close', () => {
      open.delete(socket);
      setTimeout(() => next(at), againMs);
    });
  };
  for (let at = 0; at < connections; at += 1) next(at);
  attack.signal.addEventListener('abort', () => {
    for (const socket of open) socket.destroy();
  });
}

const head = (line: string, fields = ''): string => `${line} HTTP/1.1\r\nHost: a\r\n${fields}\r\n`;
const bearer = ({ token }: Attack): string => `Authorization: Bearer ${token}\r\n`;

/** Reads the answers, and writes the text whenever the kernel takes more. */
function flood(socket: Socket, text: string): void {
  socket.resume();
  const more = () => {
    while (!socket.destroyed && socket.write(text));
  };
  socket.on('drain', more);
  more();
}

/** Reads nothing. */
function unread(socket: Socket, text: string): void {
  socket.pause();
  socket.write(text);
}

/** A piece now and then, all of it in the end, and then the connection's next request. */
function drip(socket: Socket, begins: string, piece: (at: number) => string, everyMs: number): void {
  socket.resume();
  socket.write(begins);
  let at = 0;
  const timer = setInterval(() => {
    if (socket.writable) socket.write(piece(at));
    at += 1;
  }, everyMs);
  socket.on('close', () => clearInterval(timer));
}

const pipelined = 1_000;
const oneByteChunks = '1\r\n \r\n'.repeat(2_000);

const request = ({ method, path, type, body }: CostlyBody, fields: string): string =>
  head(`${method} ${path}`, `${fields}Content-Type: ${type}\r\nContent-Length: ${Buffer.byteLength(body)}\r\n`) + body;

const costlyOf = (kind: string): readonly CostlyBody[] => costlyBodies.filter(({ name }) => name.startsWith(kind));

const oneOf = <Item>(items: readonly Item[], random: Random): Item =>
  items[Math.floor(random.next() * items.length)] as Item;

/** Bodies of a format, by chance, one after the other on each connection. */
function costly(format: string, connections: number): AttackKind {
  const bodies = costlyOf(format);
  return {
    name: `costly bodies with a token: ${format}`,
    connections,
    send: (socket, attack) => {
      const next = () => {
        if (!socket.destroyed) socket.write(request(oneOf(bodies, attack.random), bearer(attack)));
      };
      // An answer has begun: the next body may come.
      socket.on('data', next);
      next();
    },
  };
}

const large = costlyOf('large JSON: names')[0] as CostlyBody;
const lines = costlyOf('lines of many')[0] as CostlyBody;

export const attackKinds: readonly AttackKind[] = [
  {
    name: 'a pipeline of /healthz',
    connections: 100,
    send: (socket) => flood(socket, head('GET /healthz').repeat(pipelined)),
  },
  {
    name: 'a pipeline without a token',
    connections: 100,
    send: (socket) => flood(socket, head('GET /v1/targets').repeat(pipelined)),
  },
  {
    name: 'a pipeline with a wrong token',
    connections: 100,
    send: (socket) =>
      flood(
        socket,
        head('GET /v1/targets', 'Authorization: Bearer wrong-but-as-long-as-a-token\r\n').repeat(pipelined),
      ),
  },
  {
    name: 'a pipeline of unknown paths',
    connections: 100,
    send: (socket) => flood(socket, head('GET /nothing').repeat(pipelined)),
  },
  {
    name: 'a pipeline with a token',
    connections: 100,
    send: (socket, attack) => flood(socket, head('GET /v1/targets?limit=1', bearer(attack)).repeat(pipelined)),
  },
  {
    name: 'broken requests',
    connections: 100,
    send: (socket) => flood(socket, 'BREW / HTTP/1.1\r\n\r\n'.repeat(pipelined)),
  },
  {
    name: 'random bytes',
    connections: 100,
    send: (socket, { random }) =>
      unread(socket, Array.from({ length: 4_000 }, () => String.fromCharCode(random.next() * 256)).join('')),
  },
  {
    name: 'a connection for each request',
    connections: 200,
    send: (socket) => socket.resume().end(head('GET /healthz')),
  },
  { name: 'connections that are reset', connections: 200, send: (socket) => socket.resetAndDestroy() },
  { name: 'connections that say nothing', connections: 600, send: (socket) => void socket.resume() },
  {
    name: 'heads that drip',
    connections: 600,
    send: (socket) => drip(socket, 'GET /healthz HTTP/1.1\r\nX: ', () => 'a', 900),
  },
  {
    name: 'fields without end',
    connections: 50,
    send: (socket) => flood(socket, `GET / HTTP/1.1\r\n${'a: b\r\n'.repeat(10_000)}`),
  },
  { name: 'bodies without a token', connections: 100, send: (socket) => flood(socket, request(large, '')) },
  {
    name: 'chunks of one byte without a token',
    connections: 100,
    send: (socket) =>
      flood(socket, `${head('PUT /v1/targets:apply', 'Transfer-Encoding: chunked\r\n')}${oneByteChunks}`),
  },
  {
    name: 'chunks of one byte with a token',
    connections: 100,
    send: (socket, attack) =>
      flood(
        socket,
        `${head('PUT /v1/targets:apply', `${bearer(attack)}Content-Type: application/x-ndjson\r\nTransfer-Encoding: chunked\r\n`)}${oneByteChunks}`,
      ),
  },
  {
    name: 'chunks of one byte of one manifest',
    connections: 200,
    send: (socket, attack) =>
      drip(
        socket,
        `${head('PUT /v1/namespaces/a/targets/b', `${bearer(attack)}Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n`)}`,
        () => oneByteChunks,
        100,
      ),
  },
  {
    name: 'bodies that drip',
    connections: 200,
    send: (socket, attack) => drip(socket, request(large, bearer(attack)).slice(0, 20_000), () => ' ', 900),
  },
  {
    name: 'large bodies whose last byte comes at once',
    connections: 40,
    send: (socket, attack) => {
      const whole = request(large, bearer(attack));
      socket.resume();
      socket.write(whole.slice(0, -1));
      setTimeout(() => socket.writable && socket.write(whole.slice(-1)), 4_000 - (Date.now() % 4_000));
    },
  },
  {
    name: 'lists that are not read',
    connections: 300,
    send: (socket, attack) => unread(socket, head('GET /v1/targets?limit=500', bearer(attack)).repeat(20)),
  },
  {
    name: 'lists for HEAD',
    connections: 100,
    send: (socket, attack) => flood(socket, head('HEAD /v1/targets?limit=500', bearer(attack)).repeat(20)),
  },
  {
    name: 'sorted lists',
    connections: 50,
    send: (socket, attack) =>
      flood(socket, head('GET /v1/targets?limit=500&sortBy=lastChange', bearer(attack)).repeat(20)),
  },
  {
    name: 'metrics that are not read',
    connections: 300,
    send: (socket, attack) => unread(socket, head('GET /metrics', bearer(attack)).repeat(20)),
  },
  {
    name: 'documents that are not read',
    connections: 300,
    send: (socket, attack) => unread(socket, head('GET /openapi.json', bearer(attack)).repeat(50)),
  },
  {
    name: 'watches that are not read',
    connections: 150,
    send: (socket, attack) => unread(socket, head('GET /v1/watch', bearer(attack))),
  },
  {
    name: 'lists for clients that go',
    connections: 200,
    send: (socket, attack, at) => {
      socket.write(head('GET /v1/targets?limit=500&sortBy=name', bearer(attack)));
      setTimeout(() => socket.destroy(), 20 + at);
    },
  },
  ...['JSON', 'YAML'].map((format) => ({
    name: `bodies in ${format} for clients that go`,
    connections: 200,
    send: (socket: Socket, attack: Attack, at: number) => {
      socket.write(request(oneOf(costlyOf(`${format}: `), attack.random), bearer(attack)));
      setTimeout(() => socket.destroy(), 20 + at);
    },
  })),
  {
    name: 'answers of lines that are not read',
    connections: 60,
    send: (socket, attack) => unread(socket, request(lines, bearer(attack))),
  },
  costly('JSON', 60),
  costly('YAML', 60),
  costly('merge patch', 60),
  costly('large JSON', 40),
  costly('lines', 60),
];
