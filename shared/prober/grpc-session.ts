/**
 * One HTTP/2 connection with prior knowledge over a dialed socket, for one call. Two waits, each until it is decided or the deadline is
 * over; afterwards session and socket are gone, whatever happened.
 */
import { type ClientHttp2Session, connect } from 'node:http2';
import type { Socket } from 'node:net';
import type { Clock } from '../lib/clock.ts';
import { encodeCheckRequest, encodeTimeout } from './grpc-codec.ts';
import { type Headers, type RpcResult, readReply, rpcCode, rpcStatus, type StreamEnd } from './grpc-reply.ts';

const checkPath = '/grpc.health.v1.Health/Check';
const flagEndStream = 1;
/** Only the type of connection is read from it: the request names its own authority. */
const anyAuthority = new URL('http://probe');
const clientSettings = { enablePush: false };

export type Session = {
  readonly http2: ClientHttp2Session;
  /** Idempotent. Whoever opened a session closes it. */
  readonly close: () => void;
};

/** Once the server has sent its SETTINGS, as grpc-go waits for them before a connection counts; undefined: closed, foreign or too late. */
export function openSession(socket: Socket, clock: Clock, untilMs: number): Promise<Session | undefined> {
  const http2 = connect(anyAuthority, { createConnection: () => socket, settings: clientSettings });
  http2.on('error', ignore);
  const session = { http2, close: () => closeBoth(http2, socket) };
  return new Promise((resolve) => {
    const settle = (ready: boolean) => {
      cancel();
      http2.removeListener('close', onClose);
      http2.removeListener('remoteSettings', onSettings);
      if (!ready) session.close();
      resolve(ready ? session : undefined);
    };
    const onClose = () => settle(false);
    const onSettings = () => settle(true);
    const cancel = clock.setTimer(Math.max(0, untilMs - clock.monotonicMs()), onClose);
    http2.on('close', onClose);
    http2.on('remoteSettings', onSettings);
  });
}

/** The session says goodbye and lets go of the socket, in its own time if a write is stuck; the socket does not wait for that. */
function closeBoth(http2: ClientHttp2Session, socket: Socket): void {
  http2.destroy();
  socket.destroy();
}

const ignore = () => undefined;

export type Call = {
  readonly authority: string;
  readonly service: string;
  readonly userAgent: string;
  readonly deadlineMs: number;
};

export type CallOutcome = {
  readonly result: RpcResult;
  /** The server says that it did not begin: grpc-go asks once more. */
  readonly unprocessed: boolean;
  /** From the request to the first header block. */
  readonly firstByteMs?: number;
};

/** One `Check` on an open session. Never rejects. */
export function callCheck({ http2 }: Session, call: Call, clock: Clock): Promise<CallOutcome> {
  // A server may greet and say goodbye in one breath. Node then throws at a request.
  if (http2.closed) return Promise.resolve({ result: connectionLost, unprocessed: true });
  const startMs = clock.monotonicMs();
  const remainingMs = Math.max(0, call.deadlineMs - startMs);
  const stream = http2.request(requestHeaders(call, remainingMs));
  let headers: Headers | undefined;
  let trailers: Headers | undefined;
  let body: Buffer = noBytes;
  let firstByteMs: number | undefined;
  return new Promise((resolve) => {
    const settle = (result: RpcResult | undefined, unprocessed = false) => {
      if (result === undefined) return;
      cancel();
      resolve({ result, unprocessed, ...(firstByteMs !== undefined && { firstByteMs }) });
    };
    const cancel = clock.setTimer(remainingMs, () => settle(deadlineExceeded));
    stream.on('response', (block: Headers, flags: number) => {
      firstByteMs = clock.monotonicMs() - startMs;
      headers = block;
      if ((flags & flagEndStream) !== 0) trailers = block;
      settle(readReply({ headers, body }));
    });
    stream.on('data', (chunk: Buffer) => {
      body = body.length === 0 ? chunk : Buffer.concat([body, chunk]);
      settle(readReply({ headers, body }));
    });
    stream.on('trailers', (block: Headers) => {
      trailers = block;
    });
    stream.on('error', ignore);
    stream.on('close', () => {
      const end = streamEnd(trailers, stream.rstCode, http2.destroyed);
      settle(readReply({ headers, body, end }), end.kind === 'reset' && end.rstCode === refusedStream);
    });
    stream.end(encodeCheckRequest(call.service));
  });
}

const connectionLost = rpcStatus(rpcCode.unavailable, 'error reading from server: EOF');
const noBytes: Buffer = Buffer.alloc(0);
const refusedStream = 7;
const deadlineExceeded = rpcStatus(rpcCode.deadlineExceeded, 'context deadline exceeded');

const requestHeaders = ({ authority, userAgent }: Call, remainingMs: number) => ({
  ':method': 'POST',
  ':scheme': 'http',
  ':path': checkPath,
  ':authority': authority,
  'content-type': 'application/grpc',
  'user-agent': userAgent,
  te: 'trailers',
  'grpc-timeout': encodeTimeout(remainingMs),
});

/** Node closes the streams of a lost connection as if they had been cancelled, so the session is asked first. */
function streamEnd(trailers: Headers | undefined, rstCode: number, sessionLost: boolean): StreamEnd {
  if (trailers !== undefined) return { kind: 'trailers', headers: trailers };
  if (sessionLost) return { kind: 'lost' };
  return rstCode === 0 ? { kind: 'noTrailers' } : { kind: 'reset', rstCode };
}
