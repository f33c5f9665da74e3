/** Answers a request that is not valid HTTP/1, or does not arrive in time, with a problem document. */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { type Problem, problem, problemText, problemTitles } from '../../../shared/api/http/problem.ts';
import type { Slices } from '../../../shared/lib/slices.ts';

/**
 * How long a client has to read the answer. Its remaining data is discarded meanwhile, because a reset could overtake
 * the answer.
 */
const lingerMs = 1_000;

type Exchange = { readonly request: IncomingMessage; readonly response: ServerResponse };

const timedOut = 'ERR_HTTP_REQUEST_TIMEOUT';

/**
 * `turns`: in which requests that do not arrive in time are answered. Node finds all of a moment at once; what is not
 * valid it finds while it reads, which has its turn already.
 */
export function refuseBrokenRequests(server: Server, turns: Pick<Slices, 'add'>): void {
  /** The last exchange of each connection. */
  const exchanges = new WeakMap<Duplex, Exchange>();
  const refused = new WeakSet<Duplex>();
  // Node emits one of the two events for a request.
  for (const event of ['request', 'checkExpectation'])
    server.on(event, (request: IncomingMessage, response: ServerResponse) =>
      exchanges.set(request.socket, { request, response }),
    );
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    // Data that arrives after the error causes further errors.
    if (refused.has(socket)) return;
    refused.add(socket);
    const answer = () => answerLast(socket, exchanges.get(socket), refusalOf(error));
    if (error.code !== timedOut) answer();
    else
      turns.add(() => {
        answer();
        return false;
      });
  });
}

function answerLast(socket: Duplex, last: Exchange | undefined, refusal: Problem): void {
  const answer = () => refuseOn(socket, refusal);
  if (!socket.writable) socket.destroy();
  else if (!last) answer();
  // Answers the preceding request first, because clients match pipelined answers by order.
  else if (last.request.complete) afterwards(last.response, answer);
  // The request has been answered already, and the error is in the part of its body that was not read.
  else if (last.response.headersSent) afterwards(last.response, () => closeAfter(socket, ''));
  else answer();
}

function afterwards(response: ServerResponse, then: () => void): void {
  if (response.writableFinished) then();
  else response.once('finish', then);
}

const unreadable = problem(400, 'malformed-request', 'This is not a request of HTTP/1.1.');

/** Maps the error codes of Node and its parser. */
function refusalOf({ code }: NodeJS.ErrnoException): Problem {
  switch (code) {
    case timedOut:
      return problem(408, 'request-timeout', 'The request did not arrive in time.');
    case 'HPE_HEADER_OVERFLOW':
      return problem(431, 'header-too-large', 'The request line and the fields are too large.');
    case 'HPE_CHUNK_EXTENSIONS_OVERFLOW':
      return problem(413, 'body-too-large', 'The extensions of the chunks are too large.');
    default:
      return unreadable;
  }
}

/** Answers on a connection without a response object of Node, and closes it. */
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
