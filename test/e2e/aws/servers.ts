/** The probed servers, on loopback. They can be stopped, started again on the same port, and made to fail. */
import { createServer as createHttpServer, type Server as HttpServer } from 'node:http';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';

export type Seen = { readonly path: string; readonly atMs: number; readonly status: number };

export type WebServer = {
  readonly port: number;
  /** Every request, and what it was answered. */
  readonly seen: readonly Seen[];
  answer(status: number): void;
  stop(): Promise<void>;
  start(): Promise<void>;
};

const host = '127.0.0.1';

export async function webServer(): Promise<WebServer> {
  const seen: Seen[] = [];
  let status = 200;
  const serve = () =>
    createHttpServer({ keepAlive: false }, ({ url = '' }, response) => {
      response.writeHead(status, { connection: 'close' }).end('here\n');
      seen.push({ path: url, atMs: Date.now(), status });
    });
  let running = await listening(serve(), 0);
  const { port } = running;
  return {
    port,
    seen,
    answer(next) {
      status = next;
    },
    stop: () => running.close(),
    async start() {
      running = await listening(serve(), port);
    },
  };
}

/** Accepts connections and sends nothing. */
export async function socketServer() {
  const at: number[] = [];
  const { port, close } = await listening(createServer(), 0, () => at.push(Date.now()));
  return { port, connectedAtMs: at as readonly number[], stop: close };
}

async function listening(server: Server | HttpServer, port: number, onConnection = () => {}) {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    onConnection();
    sockets.add(socket);
    socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, resolve);
  });
  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      for (const socket of sockets) socket.destroy();
    });
  return { port: (server.address() as AddressInfo).port, close };
}
