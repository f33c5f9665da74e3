/** Events as they happen, as server-sent events. A client that comes back reads the state again: events are hints. */
import * as z from 'zod';
import type { EventEnvelope } from '../../bus/envelope.ts';
import type { Clock } from '../../lib/clock.ts';
import type { WatchSource } from '../deps.ts';
import { everywhere, problem, problemResponse } from '../problem.ts';
import { readWhole, wholeParam } from '../query-params.ts';
import type { Handler, Route } from '../route.ts';

/** Clients at the same time, where the process has descriptors enough; each holds a connection. */
const watchersMaxDefault = 100;
/** Events that wait for one slow client; beyond it the stream ends and the client comes back. */
const queuedMax = 1_000;
const keepAliveMs = 15_000;
const timeoutRange = { min: 1, max: 3_600 };
const timeoutSecondsDefault = 1_800;
/** What an EventSource waits before it comes back. */
const retryMs = 1_000;

const headers = { 'content-type': 'text/event-stream', 'x-accel-buffering': 'no', ...everywhere };

type Watch = {
  readonly source: WatchSource;
  readonly clock: Clock;
  readonly wants: (event: EventEnvelope) => boolean;
  readonly timeoutMs: number;
  readonly onEnd: () => void;
};

function watchHandler(source: WatchSource, watchersMax: number): Handler {
  let watchers = 0;
  return async ({ raw, query }, deps) => {
    const timeout = readWhole(query, 'timeoutSeconds', timeoutRange);
    if (timeout.kind === 'problem') return problemResponse(timeout);
    if (raw.method === 'HEAD') return new Response(null, { headers });
    if (watchers >= watchersMax)
      return problemResponse(problem(503, 'too-many-watchers', `There are ${watchersMax} watchers already.`));
    watchers += 1;
    const stream = watchStream({
      source,
      clock: deps.clock,
      wants: wanted(query),
      timeoutMs: (timeout.value ?? timeoutSecondsDefault) * 1000,
      onEnd: () => {
        watchers -= 1;
      },
    });
    return new Response(stream, { headers });
  };
}

function wanted(query: URLSearchParams): (event: EventEnvelope) => boolean {
  const namespace = query.get('namespace') ?? '';
  const name = query.get('name') ?? '';
  if (namespace === '' && name === '') return () => true;
  return ({ detail }) =>
    'target' in detail &&
    (namespace === '' || detail.target.namespace === namespace) &&
    (name === '' || detail.target.name === name);
}

function watchStream(watch: Watch): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  let end = () => {};
  return new ReadableStream<Uint8Array>(
    {
      start: (controller) => {
        let open = true;
        const send = (text: string) => {
          if (!open) return;
          controller.enqueue(encoder.encode(text));
          if ((controller.desiredSize ?? 0) <= 0) close();
        };
        const unsubscribe = watch.source((event) => {
          if (watch.wants(event)) send(eventText(event));
        });
        const cancelTimeout = watch.clock.setTimer(watch.timeoutMs, () => close());
        let cancelKeepAlive = watch.clock.setTimer(keepAliveMs, keepAlive);
        function keepAlive() {
          cancelKeepAlive = watch.clock.setTimer(keepAliveMs, keepAlive);
          send(':\n\n');
        }
        end = () => {
          if (!open) return;
          open = false;
          unsubscribe();
          cancelTimeout();
          cancelKeepAlive();
          watch.onEnd();
        };
        const close = () => {
          if (!open) return;
          end();
          controller.close();
        };
        send(`retry: ${retryMs}\n\n`);
      },
      cancel: () => end(),
    },
    new CountQueuingStrategy({ highWaterMark: queuedMax }),
  );
}

const eventText = (event: EventEnvelope): string =>
  `id: ${event.id}\nevent: ${event['detail-type']}\ndata: ${JSON.stringify(event)}\n\n`;

/** A fresh route for each app, since it counts its watchers. */
export const watchRoute = (source: WatchSource, watchersMax: number = watchersMaxDefault): Route => ({
  method: 'get',
  path: '/v1/watch',
  summary: 'Events as they happen, as server-sent events; in one process only',
  query: z.object({
    namespace: z.string().optional(),
    name: z.string().optional(),
    timeoutSeconds: wholeParam(timeoutRange, `How long the stream lasts; ${timeoutSecondsDefault} by default.`),
  }),
  answers: { 200: { description: 'The stream.', mediaType: 'text/event-stream', schema: z.string() } },
  problems: [],
  handle: watchHandler(source, watchersMax),
});
