/** The event history of a target: its last recorded events and transitions, each with its attempts. */
import type { TargetName } from '../../core/spec/names.ts';
import '../http/zod-openapi.ts';
import * as z from 'zod';
import type { EventRecord } from '../../core/spec/records.ts';
import { attempt, historyEntry } from '../../schema/terms.ts';
import { decodeEvent } from '../../store/records/items.ts';
import { eventPrefix, latestPrefix, prefixEnd, targetAddress } from '../../store/records/keys.ts';
import type { Item } from '../../store/store.ts';
import { readWhole, wholeParam } from '../http/parameters.ts';
import { jsonResponse, problemResponse } from '../http/problem.ts';
import type { ApiDeps } from '../ports/deps.ts';
import { type Handler, type Route, targetNameOf, targetParams, targetPath } from '../ports/route.ts';
import { instantText } from '../targets/instant-text.ts';
import { readTargetOr } from '../targets/stored-target.ts';

const instant = z.string().openapi({ format: 'date-time' });

const attemptSchema = z.object({ time: instant, ...attempt }).openapi('Attempt');

export const eventSchema = z
  .object({ id: z.string(), time: instant, ...historyEntry, attempts: z.array(attemptSchema) })
  .openapi('Event');

export type EventView = z.infer<typeof eventSchema>;

const eventListSchema = z.object({ items: z.array(eventSchema) }).openapi('EventList');

const limitRange = { min: 1, max: 500 };
const limitDefault = 100;

const getEvents: Handler = async (request, deps) => {
  const limit = readWhole(request.query, 'limit', limitRange);
  if (limit.kind === 'problem') return problemResponse(limit);
  const name = targetNameOf(request);
  const target = await readTargetOr(deps, name);
  if (target.kind === 'problem') return problemResponse(target);
  const events = await lastEvents(deps, name, limit.value ?? limitDefault);
  const own = events.filter(({ uid }) => uid === target.value.target.uid);
  return jsonResponse(200, { items: own.map(eventView) });
};

/** Oldest first. Includes the transition of each present result, even if it is older than all others that are kept. */
async function lastEvents(
  deps: ApiDeps,
  { namespace, name }: TargetName,
  limit: number,
): Promise<readonly EventRecord[]> {
  const address = targetAddress(namespace, name);
  const within = (from: string) => ({ pk: address.eventsPk, from, to: from + prefixEnd });
  const [last, latest] = await Promise.all([
    deps.store.query({ ...within(eventPrefix(address)), descending: true, limit }),
    deps.store.query(within(latestPrefix(address))),
  ]);
  const decodedOf = (items: readonly Item[]) =>
    items.flatMap((item) => {
      const decoded = decodeEvent(item);
      if (decoded.kind === 'ok') return [decoded.record];
      deps.onPoison?.(decoded);
      return [];
    });
  const present = decodedOf(latest).filter(({ result: shown }) => shown !== undefined);
  const byId = new Map([...present, ...decodedOf(last)].map((record) => [record.id, record]));
  return [...byId.values()].toSorted((a, b) => (a.id < b.id ? -1 : 1));
}

function eventView({ uid: _, timeMs, attempts, ...event }: EventRecord): EventView {
  const shown = attempts.map(({ timeMs: attemptMs, ...rest }) => ({ time: instantText(attemptMs), ...rest }));
  return { ...event, time: instantText(timeMs), attempts: shown };
}

export const eventRoutes: readonly Route[] = [
  {
    method: 'get',
    path: `${targetPath}/events`,
    summary: 'The last recorded events and transitions, oldest first',
    params: targetParams,
    query: z.object({ limit: wholeParam(limitRange, `The last so many; ${limitDefault} by default.`) }),
    answers: { 200: { description: 'The events.', schema: eventListSchema } },
    problems: [404, 409],
    handle: getEvents,
  },
];
