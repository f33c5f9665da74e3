/**
 * Events as they happen. The stream reconnects by itself and continues after the last event that it has seen. Where the
 * server no longer keeps the events after it, the reader is asked to list again. An API on AWS has no stream: there the
 * reader is asked to list every few seconds.
 */
import type { Dispatcher } from 'undici';
import { sleep } from '../../shared/lib/clock.ts';
import { ClientError } from './client-error.ts';
import { boundedText } from './connections.ts';
import {
  backoffMs,
  failureLine,
  foreign,
  isGatewayAnswer,
  markOf,
  parsedJson,
  passingStatuses,
  type RequestDeps,
  refusedBy,
  send,
} from './requests.ts';

export type WatchQuery = {
  readonly namespace?: string | undefined;
  readonly name?: string | undefined;
  readonly labelSelector?: string | undefined;
};

export type WatchedEvent =
  /** The stream is open, or events may have been missed: read the state now. */
  | { readonly kind: 'list' }
  /** `envelope`: as published. */
  | { readonly kind: 'event'; readonly type: string; readonly envelope: unknown };

/** Failed connections one after the other. With the back-off this is half a minute. */
const reconnectionsMax = 20;
/** Between two lists of an API without a stream. A list that takes longer than this is followed by as long a pause. */
const pollMs = 5_000;
/** Bytes of an answer that refuses a watch; a longer one is not a problem document. */
const refusalBytesMax = 1024 * 1024;
/** The server says something every 15 s. */
const silenceMaxMs = 45_000;

/** Ends with the signal of the client. @throws ClientError if the server refuses, or stays away. */
export async function* watched(deps: RequestDeps, query: WatchQuery): AsyncGenerator<WatchedEvent> {
  const isOver = () => deps.stop?.aborted ?? false;
  const seen: Seen = { lastEventId: '', failures: 0, wasOpen: false };
  while (!isOver()) {
    try {
      yield* continued(deps, query, seen);
    } catch (error) {
      if (isOver()) return;
      if (error instanceof StreamAbsent) return yield* polled(deps, isOver);
      if (isGone(error)) seen.lastEventId = '';
      else if (!mayReconnect(seen, error)) throw lineOf(error, deps);
    }
    seen.failures += 1;
    await sleep(deps.clock, backoffMs(seen.failures, deps.random), deps.stop);
  }
}

/** The API has no route for the stream. */
class StreamAbsent extends Error {}

async function* polled({ clock, stop }: RequestDeps, isOver: () => boolean): AsyncGenerator<WatchedEvent> {
  while (!isOver()) {
    const beganMs = clock.monotonicMs();
    yield { kind: 'list' };
    await sleep(clock, Math.max(pollMs, clock.monotonicMs() - beganMs), stop);
  }
}

/** `failures`: since the last message. */
type Seen = { lastEventId: string; failures: number; wasOpen: boolean };

/** A server that has never answered is down; one that stops answering may restart. */
const mayReconnect = ({ wasOpen, failures }: Seen, error: unknown): boolean =>
  wasOpen && isPassing(error) && failures < reconnectionsMax;

/** One connection. */
async function* continued(deps: RequestDeps, query: WatchQuery, seen: Seen): AsyncGenerator<WatchedEvent> {
  for await (const { id, type, data } of connected(deps, query, seen.lastEventId)) {
    if (seen.lastEventId === '') yield { kind: 'list' };
    Object.assign(seen, { failures: 0, wasOpen: true });
    if (data !== '') yield { kind: 'event', type, envelope: parsedEnvelope(data, deps) };
    seen.lastEventId = id;
  }
}

async function* connected(deps: RequestDeps, query: WatchQuery, lastEventId: string): AsyncGenerator<StreamMessage> {
  const silence = new AbortController();
  const limit = deps.clock.setTimer(deps.timeoutMs, () => silence.abort(new DOMException('', 'TimeoutError')));
  const headers = { accept: 'text/event-stream', ...(lastEventId !== '' && { 'last-event-id': lastEventId }) };
  let cancel = limit;
  try {
    const answer = await send(deps, { path: '/v1/watch', query, headers }, silence.signal);
    if (answer.statusCode !== 200) throw await refused(deps, answer);
    const { type } = markOf(deps, answer.headers);
    if (!type.startsWith('text/event-stream')) throw foreign(deps.url, `is ${type}`);
    const heard = () => {
      cancel();
      cancel = deps.clock.setTimer(silenceMaxMs, () => silence.abort(new DOMException('', 'TimeoutError')));
    };
    yield* eventStream(answer.body, { lastEventId, heard });
  } finally {
    cancel();
    silence.abort();
  }
}

async function refused(deps: RequestDeps, { statusCode: status, headers, body }: Dispatcher.ResponseData) {
  const mark = markOf(deps, headers);
  const parsed = parsedJson(mark.type, (await boundedText(body, refusalBytesMax)) ?? '');
  // What API Gateway answers where an API has no such route.
  if (status === 404 && isGatewayAnswer(parsed)) return new StreamAbsent();
  return refusedBy(deps, { ...mark, status, body: parsed });
}

const isGone = (error: unknown): boolean => error instanceof ClientError && error.status === 410;

/** A server that restarts is back soon. */
const isPassing = (error: unknown): boolean =>
  !(error instanceof ClientError) || (error.status !== undefined && passingStatuses.includes(error.status));

const lineOf = (error: unknown, deps: RequestDeps): ClientError =>
  error instanceof ClientError ? error : failureLine(deps, error);

function parsedEnvelope(data: string, { url }: RequestDeps): unknown {
  try {
    return JSON.parse(data);
  } catch {
    throw foreign(url, 'has an event that is not JSON');
  }
}

// A stream of server-sent events (WHATWG HTML, section 9.2), parsed into its messages.

/** `id`: of the last message that had one. `data` is empty if the message only carries an id. */
export type StreamMessage = { readonly id: string; readonly type: string; readonly data: string };

export type StreamOptions = {
  /** The last id of the previous connection. */
  readonly lastEventId: string;
  /** Called with each piece that arrives, comments included. */
  readonly heard: () => void;
};

/** The largest event of the API has a few attempts of 10 KiB. */
const messageCharactersMax = 1024 * 1024;

/** Yields messages that have an id or data. Throws if one has more than 1 Mi characters. */
export async function* eventStream(
  body: AsyncIterable<Uint8Array>,
  { lastEventId, heard }: StreamOptions,
): AsyncGenerator<StreamMessage> {
  const decoder = new TextDecoder();
  let id = lastEventId;
  let rest = '';
  for await (const piece of body) {
    heard();
    const blocks = (rest + decoder.decode(piece, { stream: true })).split('\n\n');
    rest = blocks.pop() ?? '';
    for (const block of blocks) {
      const fields = fieldsOf(block);
      id = fields.get('id') ?? id;
      const data = fields.get('data') ?? '';
      if (data !== '' || fields.has('id')) yield { id, type: fields.get('event') ?? 'message', data };
    }
    if (rest.length > messageCharactersMax) throw new RangeError('an event of the stream is too large');
  }
}

/** The API writes each field on one line. */
function fieldsOf(block: string): ReadonlyMap<string, string> {
  const fields = new Map<string, string>();
  for (const line of block.split('\n')) {
    const colon = line.indexOf(':');
    if (colon > 0) fields.set(line.slice(0, colon), line.slice(colon + 1).replace(/^ /, ''));
  }
  return fields;
}
