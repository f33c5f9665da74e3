/**
 * The API's HTTP server on one machine. Requests that Node rejects before the API sees them are answered with a problem
 * document, too.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { getRequestListener, RequestError } from '@hono/node-server';
import { type Problem, problem, problemResponse, problemText } from '../../shared/api/problem.ts';
import type { Log } from '../../shared/lib/log.ts';
import { boundConnections, type ConnectionTimeouts, connectionTimeouts } from './connections.ts';
import { refuseBrokenRequests, refuseOn } from './refused-requests.ts';

type Fetch = (request: Request) => Response | Promise<Response>;

export type ApiServerOptions = {
  /** Replaces the missing Host of an HTTP/1.0 request. */
  readonly hostname: string;
  readonly connectionsMax: number;
  readonly log: Log;
  readonly timeouts?: ConnectionTimeouts;
};

/** The limit for the request line and all header fields. Node reads no further. */
const headBytesMax = 16 * 1024;
const closing = { connection: 'close' } as const;

/** Returns a server that is not listening yet. */
export function apiServer(fetch: Fetch, options: ApiServerOptions): Server {
  const { hostname, connectionsMax, log, timeouts = connectionTimeouts } = options;
  const listener = getRequestListener(fetch, { hostname, errorHandler: (error) => failure(error, log) });
  // Otherwise Node would reject a request without Host with an empty body.
  const server = createServer({ ...timeouts, maxHeaderSize: headBytesMax, requireHostHeader: false });
  server.on('request', (request, response) => {
    const refusal = wrongHost(request);
    if (refusal) refuse(response, refusal);
    else void listener(request, response);
  });
  server.on('checkExpectation', (_, response) =>
    refuse(response, problem(417, 'expectation-failed', 'The only expectation known is 100-continue.')),
  );
  // A CONNECT target is not a path of the API, so no method is allowed on it.
  server.on('connect', (_, socket) =>
    refuseOn(socket, { ...problem(405, 'method-not-allowed', 'This is no proxy.'), headers: { allow: '' } }),
  );
  refuseBrokenRequests(server);
  boundConnections(server, connectionsMax);
  return server;
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
