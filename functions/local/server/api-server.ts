/**
 * The API's HTTP server on one machine. Requests that Node rejects before the API sees them are answered with a problem
 * document, too.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { getRequestListener, RequestError } from '@hono/node-server';
import { type Problem, problem, problemResponse, problemText } from '../../../shared/api/http/problem.ts';
import type { Log } from '../../../shared/lib/log.ts';
import { AnswerRoom, takesRoom } from './answer-room.ts';
import { BulkRoom, busy, isBulk } from './bulk-room.ts';
import { type ClientPorts, ClientStream, healthPath } from './client-stream.ts';
import { type ClientTurns, clientTurns } from './client-turns.ts';
import { boundConnections, type ConnectionTimeouts, clientEvent, connectionTimeouts } from './connections.ts';
import { GatheredMessage } from './gathered-message.ts';
import { refuseBrokenRequests, refuseOn } from './refused-requests.ts';

type Fetch = (request: Request) => Response | Promise<Response>;

export type ApiServerOptions = {
  /** Replaces the missing Host of an HTTP/1.0 request. */
  readonly hostname: string;
  readonly connectionsMax: number;
  readonly log: Log;
  readonly timeouts?: ConnectionTimeouts;
  /** In which the clients are served. Absent: a part of each turn for this server alone. */
  readonly turns?: ClientTurns;
  /** Whether a header Authorization has a valid token. Absent: none is asked for. */
  readonly isAuthorized?: (authorization: string | undefined) => boolean;
};

/** The limit for the request line and all header fields. Node reads no further. */
const headBytesMax = 16 * 1024;
/** Of a body that waits to be read. In chunks of one byte each of them is an object. */
const messageBytesMax = 1024;
const closing = { connection: 'close' } as const;

/** Returns a server that is not listening yet. */
export function apiServer(fetch: Fetch, options: ApiServerOptions): Server {
  const { connectionsMax, timeouts = connectionTimeouts, turns = clientTurns() } = options;
  // Otherwise Node would reject a request without Host with an empty body.
  const server = createServer({
    ...{ ...timeouts, maxHeaderSize: headBytesMax, requireHostHeader: false, highWaterMark: messageBytesMax },
    IncomingMessage: GatheredMessage,
  });
  const unread = new Map<ClientStream, number>();
  const answer = answering(fetch, options, { turns, unread });
  serveInTurns(server, { turns, unread }, options.isAuthorized);
  server.on('request', (request, response) => {
    const refusal = wrongHost(request);
    if (refusal) refuse(response, refusal);
    else answer(request, response);
  });
  server.on('checkExpectation', (_, response) =>
    refuse(response, problem(417, 'expectation-failed', 'The only expectation known is 100-continue.')),
  );
  // A CONNECT target is not a path of the API, so no method is allowed on it.
  server.on('connect', (_, socket) =>
    refuseOn(socket, { ...problem(405, 'method-not-allowed', 'This is no proxy.'), headers: { allow: '' } }),
  );
  refuseBrokenRequests(server, turns.strangers);
  boundConnections(server, connectionsMax);
  return server;
}

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

function answering(fetch: Fetch, { hostname, log }: ApiServerOptions, { turns, unread }: ClientPorts): Answer {
  const options = { hostname, errorHandler: (error: unknown) => failure(error, log) };
  const answers = new AnswerRoom({ turns: turns.known, unread });
  const bulk = new BulkRoom({ turns: turns.known, unread });
  const begin = getRequestListener(async (request, { outgoing }) => {
    try {
      return await fetch(request);
    } finally {
      answers.made(outgoing);
    }
  }, options);
  const onceThereIsRoom: Answer = (request, response) => {
    if (takesRoom(request)) answers.enter(response, () => begin(request, response));
    else void begin(request, response);
  };
  return (request, response) => {
    const client = request.socket;
    // A supervisor is answered even if there is no room for others. A stranger is refused at once, and only what has
    // been admitted waits for room.
    if (request.url === healthPath || !(client instanceof ClientStream) || !client.isKnown)
      void begin(request, response);
    else if (!isBulk(request)) onceThereIsRoom(request, response);
    else
      bulk.enter({
        ...{ client, response },
        begin: () => onceThereIsRoom(request, response),
        refuse: () => refuse(response, busy),
      });
  };
}

/** Puts a `ClientStream` between each socket and Node's parser. Call before other listeners are added. */
function serveInTurns(server: Server, ports: ClientPorts, isAuthorized: ApiServerOptions['isAuthorized']): void {
  const [parse] = server.listeners('connection');
  server.removeAllListeners('connection');
  server.on('connection', (socket: Socket) => {
    const client = new ClientStream(socket, ports);
    client.isKnown = isAuthorized === undefined;
    parse?.call(server, client);
    server.emit(clientEvent, client);
  });
  for (const event of ['request', 'checkExpectation'])
    server.on(event, (request: IncomingMessage, response: ServerResponse) => {
      const client = request.socket;
      if (!(client instanceof ClientStream)) return;
      if (isAuthorized && !client.isKnown) client.isKnown = isAuthorized(request.headers.authorization);
      client.answering(request, response);
    });
}

/** RFC 9112, section 3.2: 400 for an HTTP/1.1 request without Host, and for any request with more than one. */
function wrongHost({ headersDistinct: { host = [] }, httpVersion }: IncomingMessage): Problem | undefined {
  if (host.length === 1 || (host.length === 0 && httpVersion === '1.0')) return undefined;
  return problem(400, 'malformed-request', 'A request has one Host.');
}

/** Closes the connection, because the rest of the request's body may still arrive on it. */
function refuse(response: ServerResponse, refusal: Problem): void {
  const { status, headers, body } = problemText(refusal);
  response.writeHead(status, { ...headers, ...closing, 'content-length': Buffer.byteLength(body) }).end(body);
}

function failure(error: unknown, log: Log): Response {
  if (error instanceof RequestError)
    return problemResponse({
      ...problem(400, 'malformed-request', `Host and path make no URL: ${error.message}.`),
      headers: closing,
    });
  log.error('request failed', { error });
  return problemResponse(problem(500, 'internal', 'The request failed; the log of the service says why.'));
}
