/**
 * Events as they happen, as server-sent events. A client that was away too long reads the state again: events are
 * hints.
 */
import '../http/zod-openapi.ts';
import * as z from 'zod';
import { readWhole, wholeParam } from '../http/parameters.ts';
import { type Checked, everywhere, invalidParameters, ok, problem, problemResponse } from '../http/problem.ts';
import { parseLabelSelector } from '../lists/label-selector.ts';
import type { WatchSource } from '../ports/deps.ts';
import type { ApiRequest, Handler, Route } from '../ports/route.ts';
import { type LoggedEvent, type WatchLog, watchLog } from '../watch/watch-log.ts';
import { type Watch, watchStream } from '../watch/watch-stream.ts';

/** Maximum number of simultaneous watchers in a process with enough descriptors; each holds a connection. */
const watchersMaxDefault = 100;
/**
 * One that lasts longer gives way to a new one if there are too many, so that clients that never leave do not shut out
 * others. Its client comes back, and misses nothing.
 */
const givesWayAfterMs = 10_000;
const timeoutRange = { min: 1, max: 3_600 };
const timeoutSecondsDefault = 1_800;

const headers = { 'content-type': 'text/event-stream', 'x-accel-buffering': 'no', ...everywhere };
const lastEventId = 'Last-Event-ID';

/** The log starts with the first client: without clients no event is kept. */
function watchHandler(source: WatchSource, watchersMax: number): Handler {
  /** The first has lasted longest. */
  const watchers = new Set<Watcher>();
  let log: WatchLog | undefined;
  return async (request, deps) => {
    const wanted = readWanted(request);
    if (wanted.kind === 'problem') return problemResponse(wanted);
    if (request.raw.method === 'HEAD') return new Response(null, { headers });
    const { clock } = deps;
    const sinceMs = clock.monotonicMs();
    const [oldest] = watchers;
    const isFull = watchers.size >= watchersMax;
    if (isFull && (!oldest || sinceMs - oldest.sinceMs < givesWayAfterMs)) return problemResponse(tooMany(watchersMax));
    log ??= watchLog(source, deps);
    const place = placeOf(request, log);
    if (place === undefined) return problemResponse(noLongerKept);
    if (isFull) oldest?.close();
    const onEnd = () => watchers.delete(watcher);
    const { stream, close } = watchStream({ ...wanted.value, log, place, clock, onEnd });
    const watcher = { sinceMs, close };
    watchers.add(watcher);
    return new Response(stream, { headers });
  };
}

type Watcher = { readonly sinceMs: number; readonly close: () => void };

const tooMany = (watchersMax: number) => ({
  ...problem(503, 'too-many-watchers', `There are ${watchersMax} watchers already, all of them new.`),
  headers: { 'retry-after': `${givesWayAfterMs / 1_000}` },
});

const noLongerKept = problem(
  410,
  'gone',
  `The events after this ${lastEventId} are not kept: read the targets again, and watch without it.`,
);

/** undefined: the events after the last one that the client saw are no longer kept. */
function placeOf({ raw }: ApiRequest, log: WatchLog): number | undefined {
  const id = raw.headers.get(lastEventId) ?? '';
  return id === '' ? log.end() : log.placeAfter(id);
}

function readWanted({ query }: ApiRequest): Checked<Pick<Watch, 'wants' | 'timeoutMs'>> {
  const timeout = readWhole(query, 'timeoutSeconds', timeoutRange);
  if (timeout.kind === 'problem') return timeout;
  const selector = parseLabelSelector(query.get('labelSelector') ?? '');
  if (selector.kind === 'invalid') return invalidParameters([{ parameter: 'labelSelector', detail: selector.reason }]);
  const namespace = query.get('namespace') ?? '';
  const name = query.get('name') ?? '';
  const bySelector = (query.get('labelSelector') ?? '') !== '';
  const isFiltered = namespace !== '' || name !== '' || bySelector;
  const wants = ({ target, labels }: LoggedEvent): boolean =>
    target === undefined
      ? !isFiltered
      : (namespace === '' || target.namespace === namespace) &&
        (name === '' || target.name === name) &&
        (!bySelector || (labels !== undefined && selector.matches(labels)));
  return ok({ wants, timeoutMs: (timeout.value ?? timeoutSecondsDefault) * 1000 });
}

/** A fresh route for each app, because it counts its watchers. */
export const watchRoute = (source: WatchSource, watchersMax: number = watchersMaxDefault): Route => ({
  method: 'get',
  path: '/v1/watch',
  summary: 'Events as they happen, as server-sent events; in one process only',
  query: z.object({
    namespace: z.string().optional(),
    name: z.string().optional(),
    labelSelector: z
      .string()
      .optional()
      .openapi({ description: 'Events of targets whose labels match, as in a list; no others.' }),
    timeoutSeconds: wholeParam(timeoutRange, `How long the stream lasts; ${timeoutSecondsDefault} by default.`),
  }),
  headers: z.object({
    [lastEventId]: z.string().optional().openapi({
      description: 'The id of the last event received: the stream continues after it. 410: it is not kept.',
    }),
  }),
  answers: { 200: { description: 'The stream.', mediaType: 'text/event-stream', schema: z.string() } },
  problems: [410],
  handle: watchHandler(source, watchersMax),
});
