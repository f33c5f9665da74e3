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
  // Node gives a request to one of the two.
  for (const event of ['request', 'checkExpectation'])
    server.on(event, (request: IncomingMessage, response: ServerResponse) =>
      exchanges.set(request.socket, { request, response }),
    );
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    // Everything that arrives after it is an error again.
    if (refused.has(socket)) return;
    refused.add(socket);
    const last = exchanges.get(socket);
    const answer = () => refuseOn(socket, refusalOf(error));
    if (!socket.writable) socket.destroy();
    else if (!last) answer();
    // The request before the broken one is answered first: clients tell answers apart by their order.
    else if (last.request.complete) afterwards(last.response, answer);
    // It has its answer already, and is broken in what nobody wanted to read.
    else if (last.response.headersSent) afterwards(last.response, () => closeAfter(socket, ''));
    else answer();
  });
}

function afterwards(response: ServerResponse, then: () => void): void {
  if (response.writableFinished) then();
  else response.once('finish', then);
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
  closeAfter(socket, `HTTP/1.1 ${status} ${problemTitles[refusal.status]}\r\n${lines.join('')}\r\n${body}`);
}

function closeAfter(socket: Duplex, text: string): void {
  socket.on('error', () => socket.destroy());
  socket.resume();
  if (socket.writable) socket.end(text);
  const timer = setTimeout(() => socket.destroy(), lingerMs).unref();
  socket.once('close', () => clearTimeout(timer));
}
