/** Listeners that misbehave below any protocol. Real sockets on loopback, nothing is faked. */
import { connect, createServer, type Server, type Socket } from 'node:net';
import type { TestContext } from 'node:test';
import { Worker } from 'node:worker_threads';

export type TcpServerKind =
  | 'closed'
  | 'accept-silent'
  | 'accept-close'
  | 'accept-writes'
  | 'never-accept'
  | 'backlog-full';

export type RunningServer = {
  readonly port: number;
  /** Ends the listener and every connection. */
  readonly close: () => Promise<void>;
};

/** `host`: 127.0.0.1 or ::1. */
export function startTcpServer(kind: TcpServerKind, host: string): Promise<RunningServer> {
  switch (kind) {
    case 'closed':
      return closedPort(host);
    case 'accept-silent':
      return listenWith(createServer(), host);
    case 'accept-close':
      return listenWith(
        createServer((socket) => socket.destroy()),
        host,
      );
    case 'accept-writes':
      return listenWith(
        createServer((socket) => socket.end('hello\r\n')),
        host,
      );
    case 'never-accept':
      return startBlockedListener(host, roomyBacklog);
    case 'backlog-full':
      return startFullListener(host);
  }
}

/** The port of a server that ends with the test. */
export async function portOf(t: TestContext, starting: Promise<RunningServer>): Promise<number> {
  const { port, close } = await starting;
  t.after(close);
  return port;
}

/** Listens with `server`, on a free port by default, and ends its connections with it. */
export async function listenWith(server: Server, host: string, port = 0): Promise<RunningServer> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(port, host, resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      for (const socket of sockets) socket.destroy();
    });
  return { port: address.port, close };
}

/** The client's port of a connection: nothing listens there, and while the connection lasts no other socket gets it. */
async function closedPort(host: string): Promise<RunningServer> {
  const { port, close } = await listenWith(createServer(), host);
  const client = await connected(host, port);
  return {
    port: client.localPort ?? 0,
    close: async () => {
      client.destroy();
      await close();
    },
  };
}

const roomyBacklog = 16;
/** The kernel queues one connection more than the backlog. */
const tightBacklog = 1;

/** The kernel drops every further SYN: a connect hangs. */
async function startFullListener(host: string): Promise<RunningServer> {
  const { port, close } = await startBlockedListener(host, tightBacklog);
  const fillers = await Promise.all(Array.from({ length: tightBacklog + 1 }, () => connected(host, port)));
  return {
    port,
    close: async () => {
      for (const socket of fillers) socket.destroy();
      await close();
    },
  };
}

const connected = (host: string, port: number) =>
  new Promise<Socket>((resolve, reject) => {
    const socket = connect(port, host, () => resolve(socket));
    socket.on('error', reject);
  });

/**
 * An event loop always accepts, so this listener's loop is blocked: a thread that sleeps from its first connection slot
 * on.
 */
async function startBlockedListener(host: string, backlog: number): Promise<RunningServer> {
  const worker = new Worker(blockedListener, { eval: true, workerData: { host, backlog } });
  const port = await new Promise<number>((resolve, reject) => {
    worker.once('message', resolve);
    worker.once('error', reject);
  });
  return {
    port,
    close: async () => {
      await worker.terminate();
    },
  };
}

const blockedListener = `
const { createServer } = require('node:net');
const { parentPort, workerData } = require('node:worker_threads');
const server = createServer();
server.listen({ port: 0, ...workerData }, () => {
  parentPort.postMessage(server.address().port);
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
});
`;
