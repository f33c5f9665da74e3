/** Servers for gRPC probes: a health service that answers as it is set to, and what else may listen on its port. */
import { createServer as createHttp1Server } from 'node:http';
import { createSecureServer, createServer, type IncomingHttpHeaders, type ServerHttp2Stream } from 'node:http2';
import { createServer as createNetServer } from 'node:net';
import { selfSigned } from './certificate.ts';
import { listenWith, type RunningServer, startTcpServer, type TcpServerKind } from './tcp-server.ts';

type Health = {
  /** Service → name of its status, or the enum's number as text. */
  readonly statuses?: Readonly<Record<string, string>>;
  readonly delayMs?: number;
  /** Answers with this RPC status instead. */
  readonly codeNumber?: number;
  readonly message?: string;
  readonly acceptDelayMs?: number;
};

export type GrpcServerSpec = Health & {
  readonly kind:
    | 'grpc-health'
    | 'grpc-health-late-accept'
    | 'grpc-health-tls'
    | 'grpc-no-health-service'
    | 'http1'
    | TcpServerKind;
};

export type GrpcSeen = {
  readonly method: string;
  readonly service: string;
  /** All headers as they came, pseudo headers included. */
  readonly headers: IncomingHttpHeaders;
};

export type RunningGrpcServer = RunningServer & { readonly seen: readonly GrpcSeen[] };

export async function startGrpcServer(spec: GrpcServerSpec): Promise<RunningGrpcServer> {
  const seen: GrpcSeen[] = [];
  return { ...(await start(spec, seen)), seen };
}

const host = '127.0.0.1';

function start(spec: GrpcServerSpec, seen: GrpcSeen[]): Promise<RunningServer> {
  switch (spec.kind) {
    case 'grpc-health':
    case 'grpc-health-late-accept':
      return startHttp2(spec, healthService(spec, seen));
    case 'grpc-no-health-service':
      return startHttp2(spec, (stream) => {
        stream.resume();
        refuse(stream, unimplemented, 'unknown service grpc.health.v1.Health');
      });
    case 'grpc-health-tls':
      return startHttp2Tls(healthService(spec, seen));
    case 'http1':
      return listenWith(createHttp1Server(), host);
    case 'closed':
    case 'accept-silent':
    case 'accept-close':
    case 'accept-writes':
    case 'never-accept':
    case 'backlog-full':
      return startTcpServer(spec.kind, host);
  }
}

const unimplemented = 12;
const notFound = 5;

type OnStream = (stream: ServerHttp2Stream, headers: IncomingHttpHeaders) => void;

type HttpPlace = { readonly host: string; readonly port?: number; readonly accepted?: () => void };

/** HTTP/2 with prior knowledge. A late accept is a connection on which the server says nothing before its time. */
export function startHttp2(
  { acceptDelayMs = 0 }: Health,
  onStream: OnStream,
  { accepted = () => undefined, ...at }: HttpPlace = { host },
): Promise<RunningServer> {
  const http2 = createServer();
  http2.on('sessionError', () => undefined);
  http2.on('connection', accepted);
  http2.on('stream', (stream, headers) => {
    stream.on('error', () => undefined);
    onStream(stream, headers);
  });
  if (acceptDelayMs === 0) return listenWith(http2, at.host, at.port);
  const acceptor = createNetServer((socket) => {
    setTimeout(() => http2.emit('connection', socket), acceptDelayMs);
  });
  return listenWith(acceptor, at.host, at.port);
}

function startHttp2Tls(onStream: OnStream): Promise<RunningServer> {
  const notBefore = new Date(Date.now() - dayMs);
  const http2 = createSecureServer(
    selfSigned({ hostname: 'localhost', notBefore, notAfter: new Date(Date.now() + dayMs) }),
  );
  http2.on('tlsClientError', () => undefined);
  http2.on('stream', onStream);
  return listenWith(http2, host);
}

const dayMs = 86_400_000;

export const healthService =
  (spec: Health, seen: GrpcSeen[] = []): OnStream =>
  (stream, headers) => {
    const chunks: Buffer[] = [];
    stream.on('data', (chunk: Buffer) => chunks.push(chunk));
    stream.on('end', () => {
      const service = readService(Buffer.concat(chunks));
      seen.push({ method: headers[':path'] ?? '', service, headers });
      setTimeout(() => answer(stream, service, spec), spec.delayMs ?? 0).unref();
    });
  };

function answer(stream: ServerHttp2Stream, service: string, spec: Health): void {
  if (stream.destroyed) return;
  const status = spec.statuses?.[service];
  if (spec.codeNumber !== undefined) refuse(stream, spec.codeNumber, spec.message ?? '');
  else if (status === undefined) refuse(stream, notFound, 'unknown service');
  else reply(stream, checkResponse(status));
}

/** The request is one frame with at most one field: tag, length (a varint: the last byte has no high bit), name. */
function readService(frame: Buffer): string {
  const length = frame.subarray(frameBytes + 1);
  return length.subarray(length.findIndex((byte) => byte < 0x80) + 1).toString('utf8');
}

const frameBytes = 5;
const statusNames = ['UNKNOWN', 'SERVING', 'NOT_SERVING', 'SERVICE_UNKNOWN'];

/** `HealthCheckResponse{status}` in its frame; zero is the default and takes no bytes. */
export function checkResponse(status: string): Buffer {
  const number = statusNames.includes(status) ? statusNames.indexOf(status) : Number(status);
  const message = number === 0 ? [] : [0x08, ...varint(BigInt.asUintN(64, BigInt(number)))];
  return Buffer.from([0, 0, 0, 0, message.length, ...message]);
}

function varint(value: bigint): readonly number[] {
  return value < 0x80n ? [Number(value)] : [Number(value & 0x7fn) | 0x80, ...varint(value >> 7n)];
}

/** One message and status OK. */
function reply(stream: ServerHttp2Stream, frame: Buffer): void {
  stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true });
  stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
  stream.end(frame);
}

/** Headers that are trailers as well. */
function refuse(stream: ServerHttp2Stream, code: number, message: string): void {
  const text = encodeURI(message).replaceAll('%20', ' ');
  const headers = { 'content-type': 'application/grpc', 'grpc-status': String(code), 'grpc-message': text };
  stream.respond({ ':status': 200, ...headers }, { endStream: true });
}
