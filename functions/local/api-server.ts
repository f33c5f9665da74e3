/** The API's HTTP server on one machine. What Node refuses itself, before the API sees a request, is a problem document too. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { getRequestListener, RequestError } from '@hono/node-server';
import { type Problem, problem, problemResponse, problemText } from '../../shared/api/problem.ts';
import type { Log } from '../../shared/lib/log.ts';
import { boundConnections, type ConnectionTimeouts, connectionTimeouts } from './connections.ts';
import { refuseBrokenRequests, refuseOn } from './refused-requests.ts';

type Fetch = (request: Request) => Response | Promise<Response>;

export type ApiServerOptions = {
  /** Stands for the Host of a request of HTTP/1.0. */
  readonly hostname: string;
  readonly connectionsMax: number;
  readonly log: Log;
  readonly timeouts?: ConnectionTimeouts;
};

/** The request line and all fields of a request; Node reads no further. */
const headBytesMax = 16 * 1024;
const closing = { connection: 'close' } as const;

/** Does not listen yet. */
export function apiServer(fetch: Fetch, options: ApiServerOptions): Server {
  const { hostname, connectionsMax, log, timeouts = connectionTimeouts } = options;
  const listener = getRequestListener(fetch, { hostname, errorHandler: (error) => failure(error, log) });
  // Node would refuse a request without Host by itself, with an empty body.
  const server = createServer({ ...timeouts, maxHeaderSize: headBytesMax, requireHostHeader: false });
  server.on('request', (request, response) => {
    const refusal = wrongHost(request);
    if (refusal) refuse(response, refusal);
    else void listener(request, response);
  });
  server.on('checkExpectation', (_, response) =>
    refuse(response, problem(417, 'expectation-failed', 'The only expectation known is 100-continue.')),
  );
  // Its target is no path of the API, so no method is allowed on it.
  server.on('connect', (_, socket) =>
    refuseOn(socket, { ...problem(405, 'method-not-allowed', 'This is no proxy.'), headers: { allow: '' } }),
  );
  refuseBrokenRequests(server);
  boundConnections(server, connectionsMax);
  return server;
}

/** RFC 9112, section 3.2: 400 for a request of HTTP/1.1 without Host, and for any with more than one. */
function wrongHost({ headersDistinct: { host = [] }, httpVersion }: IncomingMessage): Problem | undefined {
  if (host.length === 1 || (host.length === 0 && httpVersion === '1.0')) return undefined;
  return problem(400, 'malformed-request', 'A request has one Host.');
}

/** The body of the request may be on its way still, so the connection is of no further use. */
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
