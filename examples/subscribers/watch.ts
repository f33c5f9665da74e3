/** What the subscribers of this folder share: requests to probelet's API, and its events as they happen. */
import { setTimeout as pause } from 'node:timers/promises';
import type { DetailType, EventDetail, EventEnvelope } from 'probelet/events';

const url = (process.env.PROBELET_URL ?? 'http://127.0.0.1:8080').replace(/\/$/, '');
const token = process.env.PROBELET_TOKEN;
const reconnectMs = 1_000;
const messageCharactersMax = 1024 * 1024;

class Refused extends Error {
  readonly status: number;

  constructor(path: string, status: number, text: string) {
    super(`${path}: ${status} ${text}`);
    this.status = status;
  }
}

/** @throws Refused for an answer that is not a success */
export async function ask(path: string, init: RequestInit = {}): Promise<Response> {
  const headers = new Headers(init.headers);
  if (token !== undefined) headers.set('authorization', `Bearer ${token}`);
  const response = await fetch(`${url}${path}`, { ...init, headers });
  if (!response.ok) throw new Refused(path, response.status, await response.text());
  return response;
}

/**
 * Yields the detail of each event of the type, and undefined where events may have been missed: at the start, and after
 * a connection was lost for long. The caller then reads the targets, if their state matters to it. Reconnects for ever;
 * a refusal, such as that of the token, ends the process.
 */
export async function* watch<Type extends DetailType>(
  type: Type,
  query: Readonly<Record<string, string>> = {},
): AsyncGenerator<EventDetail<Type> | undefined> {
  let lastEventId = '';
  for (;;) {
    try {
      for await (const { id, event } of connected(query, lastEventId)) {
        if (lastEventId === '') {
          console.log(`reading the events of ${url}`);
          yield undefined;
        }
        if (event?.['detail-type'] === type) yield event.detail as EventDetail<Type>;
        lastEventId = id ?? lastEventId;
      }
    } catch (error) {
      lastEventId = startAfter(error, lastEventId);
    }
    await pause(reconnectMs);
  }
}

/** Where the next connection begins. */
function startAfter(error: unknown, lastEventId: string): string {
  const isRefused = error instanceof Refused;
  // The events after the last one are no longer kept, or the process is another one.
  if (isRefused && error.status === 410) return '';
  console.error(`no events of ${url}: ${error instanceof Error ? error.message : error}`);
  if (isRefused && error.status < 500) process.exit(1);
  return lastEventId;
}

type Message = { readonly id: string | undefined; readonly event: EventEnvelope | undefined };

/** The messages of one connection: server-sent events. The first one only has an id. */
async function* connected(query: Readonly<Record<string, string>>, lastEventId: string): AsyncGenerator<Message> {
  const { body } = await ask(`/v1/watch?${new URLSearchParams(query)}`, { headers: { 'last-event-id': lastEventId } });
  const decoder = new TextDecoder();
  let rest = '';
  for await (const piece of body ?? []) {
    const blocks = (rest + decoder.decode(piece, { stream: true })).split('\n\n');
    rest = blocks.pop() ?? '';
    for (const block of blocks) {
      const data = /^data: (.*)$/m.exec(block)?.[1];
      yield { id: /^id: (.*)$/m.exec(block)?.[1], event: data === undefined ? undefined : JSON.parse(data) };
    }
    if (rest.length > messageCharactersMax) throw new RangeError('an event is too large');
  }
}
