/** What is no request of HTTP/1, or does not come to its end in time, is answered with a problem document. */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { type Problem, problem, problemText, problemTitles } from '../../shared/api/problem.ts';

/** How long a client has to read the refusal. What it sends meanwhile is discarded: a reset might overtake the answer. */
const lingerMs = 1_000;

type Exchange = { readonly request: IncomingMessage; readonly response: ServerResponse };

export function refuseBrokenRequests(server: Server): void {
  /** The last exchange of each connection. */
  const exchanges = new WeakMap<Duplex, Exchange>();
  const refused = new WeakSet<Duplex>();
  server.on('request', (request, response) => exchanges.set(request.socket, { request, response }));
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    // Everything that arrives after it is an error again.
    if (refused.has(socket)) return;
    refused.add(socket);
    const last = exchanges.get(socket);
    const answer = () => refuseOn(socket, refusalOf(error));
    if (!socket.writable) socket.destroy();
    else if (!last || last.response.writableFinished) answer();
    // The request before the broken one is answered first: clients tell answers apart by their order.
    else if (last.request.complete) last.response.once('finish', answer);
    else if (last.response.headersSent) socket.destroy();
    else answer();
  });
}

const unreadable = problem(400, 'malformed-request', 'This is not a request of HTTP/1.1.');

/** By the codes of Node and of its parser. */
function refusalOf({ code }: NodeJS.ErrnoException): Problem {
  switch (code) {
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return problem(408, 'request-timeout', 'The request did not arrive in time.');
    case 'HPE_HEADER_OVERFLOW':
      return problem(431, 'header-too-large', 'The request line and the fields are too large.');
    case 'HPE_CHUNK_EXTENSIONS_OVERFLOW':
      return problem(413, 'body-too-large', 'The extensions of the chunks are too large.');
    default:
      return unreadable;
  }
}

/** Answers on a connection that no response of Node's belongs to, and closes it. */
export function refuseOn(socket: Duplex, refusal: Problem): void {
  const { status, headers, body } = problemText(refusal);
  const fields = { ...headers, connection: 'close', 'content-length': Buffer.byteLength(body) };
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.on('error', () => socket.destroy());
  socket.resume();
  socket.end(`HTTP/1.1 ${status} ${problemTitles[refusal.status]}\r\n${lines.join('')}\r\n${body}`);
  const timer = setTimeout(() => socket.destroy(), lingerMs).unref();
  socket.once('close', () => clearTimeout(timer));
}
