/** The hostile peers, in their own process: each ordered exchange gets a listener that plays it to every client. */
import { createServer, type Server, type Socket } from 'node:net';
import tls, { createServer as createTlsServer, TLSSocket, type TlsOptions } from 'node:tls';
import { selfSigned } from '../support/certificate.ts';
import { seededRandom } from '../support/seeded-random.ts';
import { openDns, startDns } from './dns-peer.ts';
import { type Frame, flags, frame, frameReader, frameType } from './http2-frames.ts';
import { cutter, type Exchange, type Piece, type Reply, type Transport } from './kind.ts';
import { allKinds } from './kinds.ts';
import { dataBytesOf, type SendWindow, sendWindow } from './send-window.ts';

export type PeerOrder = { readonly kind: 'open'; readonly exchanges: readonly Exchange[] } | { readonly kind: 'close' };

const host = '127.0.0.1';
const backlog = 4096;

// A server of Node's would stop after three.
Object.assign(tls, { CLIENT_RENEG_LIMIT: Number.MAX_SAFE_INTEGER });

const listening = new Set<Server>();
const connected = new Set<Socket>();

type Serving = { readonly transport: Exclude<Transport, 'dns'>; readonly options: TlsOptions | undefined };

function serverOf({ transport, options }: Serving, serve: (socket: Socket) => void): Server {
  switch (transport) {
    case 'http':
    case 'grpc':
    case 'tls':
      return createServer({ allowHalfOpen: true }, serve);
    case 'https':
    case 'h2': {
      const ALPNProtocols = [transport === 'h2' ? 'h2' : 'http/1.1'];
      const server = createTlsServer({ ...certificate, ...options, ALPNProtocols, allowHalfOpen: true }, serve);
      return server.on('tlsClientError', () => undefined);
    }
  }
}

const certificate = selfSigned({
  hostname: 'localhost',
  notBefore: new Date('2020-01-01'),
  notAfter: new Date('2049-01-01'),
});

async function open(exchange: Exchange): Promise<number> {
  const kind = allKinds.find(({ name }) => name === exchange.kind);
  if (!kind) throw new Error(`no kind ${exchange.kind}`);
  const random = seededRandom(exchange.seed);
  const reply = kind.reply(exchange.bytes, random);
  const { transport } = kind;
  if (transport === 'dns') return openDns(reply);
  const server = serverOf({ transport, options: reply.tls }, (socket) => {
    // Of a TLS socket the error comes twice, here and below it.
    socket.on('error', () => undefined);
    const nextBytes = cutter(exchange.cut, random);
    const window = kind.keepsWindow ? sendWindow() : undefined;
    const play = (pieces: readonly Piece[] = []) => send(socket, pieces, { nextBytes, window });
    const ended = async () => {
      await renegotiated(socket, reply);
      await play(reply.pieces);
      if (!reply.isHeld) socket.end();
    };
    void play(reply.hello).then(() => whenRequested(socket, { transport, window }, () => void ended()));
  });
  server.on('connection', (socket: Socket) => {
    socket.on('error', () => undefined).setNoDelay();
    connected.add(socket);
    socket.once('close', () => connected.delete(socket));
  });
  listening.add(server);
  await new Promise<void>((resolve) => server.listen({ host, port: 0, backlog }, resolve));
  const address = server.address();
  return typeof address === 'object' ? (address?.port ?? 0) : 0;
}

type Sending = { readonly nextBytes: () => number; readonly window: SendWindow | undefined };

async function send(socket: Socket, pieces: readonly Piece[], { nextBytes, window }: Sending): Promise<void> {
  for (const { bytes, times } of pieces) {
    const dataBytes = window ? dataBytesOf(bytes) : 0;
    for (let time = 0; time < times && !socket.destroyed; time += 1) {
      await window?.spend(dataBytes, socket);
      await sendCut(socket, bytes, nextBytes);
    }
  }
}

async function sendCut(socket: Socket, bytes: Buffer, nextBytes: () => number): Promise<void> {
  for (let at = 0; at < bytes.length && !socket.destroyed; ) {
    const end = Math.min(bytes.length, at + nextBytes());
    if (!socket.write(bytes.subarray(at, end))) await drained(socket);
    at = end;
  }
}

const drained = (socket: Socket): Promise<void> =>
  new Promise((resolve) => {
    const done = () => {
      socket.off('drain', done);
      socket.off('close', done);
      resolve();
    };
    socket.once('drain', done);
    socket.once('close', done);
    if (socket.destroyed) done();
  });

async function renegotiated(socket: Socket, { renegotiations = 0 }: Reply): Promise<void> {
  if (!(socket instanceof TLSSocket)) return;
  for (let time = 0; time < renegotiations && !socket.destroyed; time += 1)
    await new Promise<void>((resolve) => {
      socket.once('close', resolve);
      socket.renegotiate({}, () => {
        socket.off('close', resolve);
        resolve();
      });
    });
}

type Asked = { readonly transport: Serving['transport']; readonly window: SendWindow | undefined };

function whenRequested(socket: Socket, { transport, window }: Asked, requested: () => void): void {
  switch (transport) {
    case 'http':
    case 'https':
      followHead(socket, requested);
      break;
    case 'h2':
    case 'grpc':
      followFrames(socket, requested, window);
      break;
    case 'tls':
      socket.resume();
      requested();
  }
}

/** Once the empty line has come. */
function followHead(socket: Socket, requested: () => void): void {
  let tail = '';
  let isRequested = false;
  socket.on('data', (bytes: Buffer) => {
    tail = (tail + bytes.toString('latin1')).slice(-(bytes.length + 3));
    if (isRequested || !tail.includes('\r\n\r\n')) return;
    isRequested = true;
    requested();
  });
}

/** Once stream 1 of the client has ended; its SETTINGS are acknowledged until then. */
function followFrames(socket: Socket, requested: () => void, window: SendWindow | undefined): void {
  let isRequested = false;
  const take = ({ type, flags: set, stream, payload }: Frame) => {
    if (type === frameType.windowUpdate) window?.widen(stream, payload.readUInt32BE());
    if (isRequested) return;
    if (type === frameType.settings && (set & flags.ack) === 0) socket.write(settingsAck);
    isRequested = (type === frameType.data || type === frameType.headers) && (set & flags.endStream) !== 0;
    if (isRequested) requested();
  };
  const read = frameReader(take);
  socket.on('data', (bytes: Buffer) => {
    // What floods have as answers is of no interest.
    if (!isRequested || window !== undefined) read(bytes);
  });
}

const settingsAck = frame(frameType.settings, '', { flags: flags.ack });

function closeAll(): void {
  for (const server of listening) server.close();
  for (const socket of connected) socket.destroy();
  listening.clear();
}

process.on('message', async (order: PeerOrder) => {
  if (order.kind === 'close') {
    closeAll();
    process.send?.([]);
  } else process.send?.(await Promise.all(order.exchanges.map(open)));
});
process.on('disconnect', () => process.exit(0));
process.send?.(await startDns());
