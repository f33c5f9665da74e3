import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export type SentEntry = { readonly DetailType: string; readonly Detail: string; readonly Source: string };

/** What the server says to one call: an error code for some of its entries, or an HTTP error for the whole of it. */
export type Answer =
  | { readonly kind: 'entries'; readonly errorCodes: { readonly [place: number]: string } }
  | { readonly kind: 'error'; readonly status: number; readonly type: string }
  | { readonly kind: 'cut' }
  /** Says nothing. */
  | { readonly kind: 'silence' };

export const taken: Answer = { kind: 'entries', errorCodes: {} };

/** What the server says to these entries: for a test whose calls may arrive in any order. */
export type AnswerTo = (entries: readonly SentEntry[]) => Answer;

/** A listener that speaks PutEvents' JSON protocol and answers from a script (its last answer for ever). */
export async function putEventsServer(script: readonly Answer[] | AnswerTo) {
  const calls: (readonly SentEntry[])[] = [];
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    const entries: readonly SentEntry[] = JSON.parse(body).Entries;
    const scripted = typeof script === 'function' ? script(entries) : script[Math.min(calls.length, script.length - 1)];
    const answer = scripted ?? taken;
    calls.push(entries);
    if (answer.kind === 'silence') return;
    if (answer.kind === 'cut') {
      response.socket?.destroy();
      return;
    }
    const [status, payload] =
      answer.kind === 'error' ? [answer.status, { __type: answer.type }] : [200, results(entries, answer)];
    response.writeHead(status, { 'content-type': 'application/x-amz-json-1.1' }).end(JSON.stringify(payload));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const close = () => {
    server.closeAllConnections();
    return new Promise<void>((resolve) => server.close(() => resolve()));
  };
  return { endpoint: `http://127.0.0.1:${port}`, calls, close };
}

function results(entries: readonly SentEntry[], answer: Extract<Answer, { kind: 'entries' }>) {
  const each = entries.map((_, place) => {
    const code = answer.errorCodes[place];
    return code ? { ErrorCode: code, ErrorMessage: 'scripted' } : { EventId: `id-${place}` };
  });
  return { FailedEntryCount: Object.keys(answer.errorCodes).length, Entries: each };
}
