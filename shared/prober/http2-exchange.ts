/** HTTP/2 on a TLS socket that negotiated it. Source: Go's net/http, which checks what HTTP/2 forbids before it sends. */
import { type ClientHttp2Session, type ClientHttp2Stream, connect, type OutgoingHttpHeaders } from 'node:http2';
import type { Socket } from 'node:net';
import {
  awaitingHeadTimeout,
  type Exchange,
  type Exchanged,
  type ExchangeOptions,
  readingBodyTimeout,
} from './http-exchange.ts';
import type { Head } from './http1-head.ts';
import { headerValues, type RequestHead, sentFields, sentHost } from './http1-request.ts';

/** As generous as Go's client, which takes 10 MiB of header fields. */
const headerListBytesMax = 10 * 1024 * 1024;
const headerPairsMax = 10_000;

export const exchangeHttp2: Exchange = (socket, request, options) => {
  const refusal = refusedInHttp2(request);
  if (refusal !== undefined) return Promise.resolve(unsent(socket, refusal));
  const host = sentHost(request);
  if (host.kind === 'refused') return Promise.resolve(unsent(socket, `http2: ${host.message}`));
  const session = connect('https://localhost', {
    createConnection: () => socket,
    maxHeaderListPairs: headerPairsMax,
    settings: { enablePush: false, maxHeaderListSize: headerListBytesMax },
  });
  try {
    return readResponse(session, session.request(headers2(request, host.host), { endStream: true }), options);
  } catch (error) {
    // Node judges some fields (`TE`) before it sends them, by throwing.
    return Promise.resolve(unsent(socket, `http2: ${error instanceof Error ? error.message : String(error)}`));
  }
};

function unsent(socket: Socket, message: string): Exchanged {
  socket.destroy();
  return { kind: 'failed', failureClass: 'HTTP_PROTOCOL', message };
}

function readResponse(
  session: ClientHttp2Session,
  stream: ClientHttp2Stream,
  { clock, deadline, bodyBytesMax }: ExchangeOptions,
): Promise<Exchanged> {
  return new Promise((resolve) => {
    const startMs = clock.monotonicMs();
    const read = { chunks: [] as Buffer[], bytes: 0, bytesMax: 0, firstByteMs: 0 };
    let head: Head | undefined;

    const settle = (outcome: Exchanged) => {
      session.destroy();
      resolve(outcome);
    };
    /** `cause`: why it ends here; absent: the stream ended in order. */
    const finish = (cause?: string) => {
      const failureClass = deadline.isOver() ? 'TIMEOUT' : 'HTTP_PROTOCOL';
      if (head === undefined) settle({ kind: 'failed', failureClass, message: cause ?? 'EOF' });
      else settle(responseOf(head, read, cause));
    };
    const onError = (error: NodeJS.ErrnoException) => finish(`http2: ${error.code ?? error.message}`);
    session.on('error', onError);
    stream.on('error', onError);
    stream.on('response', (fields) => {
      read.firstByteMs = clock.monotonicMs() - startMs;
      head = headOf(fields);
      read.bytesMax = bodyBytesMax(head);
      if (read.bytesMax === 0) finish();
    });
    stream.on('data', (chunk: Buffer) => {
      read.chunks.push(chunk);
      read.bytes += chunk.length;
      if (read.bytes >= read.bytesMax) finish();
    });
    stream.on('end', () => finish());
    stream.on('aborted', () => finish('unexpected EOF'));
    stream.on('close', () => finish('EOF'));
    deadline.whenOver(() => finish(head === undefined ? awaitingHeadTimeout : readingBodyTimeout));
  });
}

type Read = { readonly chunks: readonly Buffer[]; readonly bytesMax: number; readonly firstByteMs: number };

function responseOf(head: Head, { chunks, bytesMax, firstByteMs }: Read, bodyError: string | undefined): Exchanged {
  const body = Buffer.concat(chunks).subarray(0, bytesMax);
  const { status, location } = head;
  const response = { status, location, body, ...(bodyError !== undefined && { bodyError }) };
  return { kind: 'response', firstByteMs, response };
}

function headOf(fields: Readonly<Record<string, unknown>>): Head {
  const length = Number(fields['content-length'] ?? Number.NaN);
  const { location } = fields;
  return {
    status: Number(fields[':status'] ?? 0),
    location: typeof location === 'string' ? location : '',
    framing: Number.isInteger(length) ? { kind: 'length', bytes: length } : { kind: 'close' },
  };
}

function refusedInHttp2({ headers }: RequestHead): string | undefined {
  const upgrade = headerValues(headers, 'Upgrade');
  if (upgrade[0] && upgrade[0] !== 'chunked')
    return `http2: invalid Upgrade request header: ["${upgrade.join('" "')}"]`;
  const connection = headerValues(headers, 'Connection');
  const isFine =
    connection.length === 0 || (connection.length === 1 && /^(|close|keep-alive)$/i.test(connection[0] ?? ''));
  return isFine ? undefined : `http2: invalid Connection request header: ["${connection.join('" "')}"]`;
}

/** Hop-by-hop fields, which HTTP/2 has no place for. */
const notInHttp2: ReadonlySet<string> = new Set(['connection', 'proxy-connection', 'keep-alive', 'upgrade']);

function headers2(request: RequestHead, host: string): OutgoingHttpHeaders {
  const headers: OutgoingHttpHeaders = {
    ':method': 'GET',
    ':path': request.url.target,
    ':scheme': 'https',
    ':authority': host,
  };
  for (const [name, value] of sentFields(request)) {
    const field = name.toLowerCase();
    const known = headers[field];
    if (notInHttp2.has(field)) continue;
    headers[field] = known === undefined ? value : [known, value].flat().map(String);
  }
  return headers;
}
