/** The servers that a command and its probe ask in turn, and that record what they were asked. */
import { createServer as createHttp, type IncomingMessage, type RequestListener } from 'node:http';
import { createServer as createHttp2, type ServerHttp2Stream } from 'node:http2';
import { createServer as createHttps } from 'node:https';
import { createServer as createTcp, type Server, type Socket } from 'node:net';
import { localhostCertificate } from '../support/certificate.ts';
import { freePort } from '../support/free-port.ts';
import type { Ports } from './generate.ts';

export type RecordedRequest = {
  readonly port: keyof Ports;
  readonly method: string;
  readonly path: string;
  readonly host: string;
  /** The others as they were sent, in order; names in lower case. */
  readonly headers: readonly string[];
};

export type Recorded = {
  readonly requests: readonly RecordedRequest[];
  /** Where connections were made. */
  readonly connected: readonly (keyof Ports)[];
};

/** An answer of every server. `refused`: nothing listens. */
export type Answer = { readonly name: string; readonly status: number; readonly location?: string };

export const answers: readonly Answer[] = [
  { name: '200', status: 200 },
  { name: '204', status: 204 },
  { name: '301 to 200', status: 301, location: '/moved' },
  { name: '304', status: 304 },
  { name: '401', status: 401 },
  { name: '404', status: 404 },
  { name: '500', status: 500 },
  { name: 'refused', status: 0 },
];

const loopback = ['127.0.0.1', '::1'] as const;
/** The TCP port service multiplexer, which no machine runs. */
const closedPort = 1;
export const closedPorts: Ports = {
  '@HTTP@': closedPort,
  '@HTTPS@': closedPort,
  '@TCP@': closedPort,
  '@GRPC@': closedPort,
};

export const certificate = localhostCertificate();

export class Stand {
  readonly ports: Ports;
  #answer: Answer = { name: '200', status: 200 };
  #requests: RecordedRequest[] = [];
  #connected = new Set<keyof Ports>();
  readonly #servers: Server[] = [];
  readonly #sockets = new Set<Socket>();

  private constructor(ports: Ports) {
    this.ports = ports;
  }

  static async start(): Promise<Stand> {
    const stand = new Stand({
      '@HTTP@': await freePort(),
      '@HTTPS@': await freePort(),
      '@TCP@': await freePort(),
      '@GRPC@': await freePort(),
    });
    for (const address of loopback) await stand.#listen(address);
    return stand;
  }

  async #listen(address: string): Promise<void> {
    const listener =
      (port: keyof Ports): RequestListener =>
      (request, response) => {
        this.#record(port, request);
        const { status, location } = request.url === '/moved' ? { status: 200 } : (this.#answer as Answer);
        response.writeHead(status, { connection: 'close', ...(location !== undefined && { location }) });
        response.end(status === 204 || status === 304 ? undefined : 'ok\n');
      };
    const grpc = createHttp2();
    grpc.on('stream', (stream, headers) => this.#answerGrpc(stream, headers));
    const servers: readonly (readonly [keyof Ports, Server])[] = [
      ['@HTTP@', createHttp(listener('@HTTP@'))],
      ['@HTTPS@', createHttps(certificate, listener('@HTTPS@'))],
      ['@TCP@', createTcp((socket) => socket.on('data', () => this.#requests.push(bytesOn('@TCP@'))).resume())],
      ['@GRPC@', grpc],
    ];
    for (const [name, server] of servers) {
      server.on('connection', (socket: Socket) => {
        this.#connected.add(name);
        this.#sockets.add(socket);
        socket.on('error', () => {}).on('close', () => this.#sockets.delete(socket));
      });
      server.on('clientError', (_, socket: Socket) => socket.destroy());
      this.#servers.push(server);
      await new Promise<void>((resolve, reject) => {
        server.once('error', reject);
        server.listen(this.ports[name], address, resolve);
      });
    }
  }

  #record(port: keyof Ports, { method = '', url = '', rawHeaders }: IncomingMessage): void {
    const fields = rawHeaders.flatMap((name, index) =>
      index % 2 === 0 ? [[name.toLowerCase(), rawHeaders[index + 1] ?? ''] as const] : [],
    );
    this.#requests.push({
      port,
      method,
      path: url,
      host: fields
        .filter(([name]) => name === 'host')
        .map(([, value]) => value)
        .join(),
      headers: fields.filter(([name]) => name !== 'host').map((field) => field.join(': ')),
    });
  }

  /** Of the health service; the service `down` is not serving, and `unknown` is not known. */
  #answerGrpc(stream: ServerHttp2Stream, headers: Readonly<Record<string, unknown>>): void {
    const chunks: Buffer[] = [];
    stream.on('error', () => {});
    stream.on('data', (chunk: Buffer) => chunks.push(chunk));
    stream.on('end', () => {
      const body = Buffer.concat(chunks);
      const service = body.subarray(7).toString();
      const added = Object.entries(headers).filter(([name]) => !grpcHeaders.has(name));
      const path = `${headers[':path']} ${JSON.stringify(service)}`;
      this.#requests.push({
        port: '@GRPC@',
        method: 'gRPC',
        path,
        host: '',
        headers: added.map((each) => each.join(': ')),
      });
      const isServing = this.#answer.status < 400 && service !== 'down';
      const isKnown = service !== 'unknown';
      stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true });
      stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': isKnown ? '0' : '5' }));
      stream.end(isKnown ? Buffer.of(0, 0, 0, 0, 2, 8, isServing ? 1 : 2) : undefined);
    });
  }

  /** Forgets what was recorded. */
  prepare(answer: Answer): void {
    this.#answer = answer;
    this.#requests = [];
    this.#connected = new Set();
  }

  /** After everything that has reached the servers. */
  async recorded(): Promise<Recorded> {
    for (let turn = 0; turn < turns; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    return { requests: this.#requests, connected: [...this.#connected].sort() };
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await Promise.all(this.#servers.map((server) => new Promise((resolve) => server.close(resolve))));
  }
}

/** The kernel has a connection before the process: so many turns of the event loop let it see all of them. */
const turns = 5;

const grpcHeaders: ReadonlySet<string> = new Set([
  ...[
    ':method',
    ':path',
    ':scheme',
    ':authority',
    'content-type',
    'te',
    'user-agent',
    'grpc-accept-encoding',
    'grpc-timeout',
  ],
]);

const bytesOn = (port: keyof Ports): RecordedRequest => ({ port, method: 'bytes', path: '', host: '', headers: [] });
