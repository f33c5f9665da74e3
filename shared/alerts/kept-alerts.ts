/**
 * Alerts across a restart. The file may be damaged, so each entry is checked by itself and a malformed one does not
 * take others with it. Steady time starts with each process, so instants are kept by the wall clock.
 */
import * as z from 'zod';
import { issueDetail } from '../lib/issue-detail.ts';
import type { AlertState, Batch, Incident } from './alert-state.ts';
import type { AlertTime } from './alert-time.ts';
import { groupWindowMs } from './batches.ts';
import type { AlertOutbox, Queued } from './delivery.ts';

export const alertLogVersion = 1;

/** What survives the process. */
export type KeptAlerts = {
  readonly version: typeof alertLogVersion;
  readonly state: AlertState;
  readonly outbox: AlertOutbox;
};

export type DecodedAlerts = {
  readonly kept: KeptAlerts;
  /** What was left out, each with its place: `batches.4f2a: firing is required`. */
  readonly problems: readonly string[];
};

/** A fraction is no damage: a clock may be finer. */
const ms = z.number().min(0);
const count = z.number().int().min(0);
const names = z.array(z.string()).readonly();

const incident: z.ZodType<Incident> = z.object({
  id: z.string(),
  alert: z.string(),
  cause: z.enum(['NotReady', 'RestartRequested', 'ProberDegraded']),
  namespace: z.string(),
  name: z.string(),
  uid: z.string(),
  sinceMs: ms,
  beganMs: z.number().exactOptional(),
  message: z.string(),
  groupLabels: z.record(z.string(), z.string()),
  receivers: names,
  silences: z.array(z.object({ fromMs: ms, untilMs: ms })).exactOptional(),
  isUnknown: z.literal(true).exactOptional(),
  batch: z.string().exactOptional(),
});

const endedIncident = z.intersection(incident, z.object({ resolvedMs: ms }));

const batch: z.ZodType<Batch> = z.object({
  id: z.string(),
  alert: z.string(),
  group: z.string(),
  receivers: names,
  sendResolved: z.boolean(),
  remindMs: ms.exactOptional(),
  firing: names,
  ended: z.array(endedIncident),
  reportAtMs: z.number().exactOptional(),
  reportedMs: z.number().exactOptional(),
  sequence: count,
});

const overflow = z.object({ id: z.string(), sinceMs: ms, refused: count });

const queued: z.ZodType<Queued> = z.object({
  notification: z.object({
    id: z.string(),
    kind: z.enum(['firing', 'reminder', 'resolved', 'overflow', 'overflowEnded']),
    batch: z.string(),
    alert: z.string(),
    receivers: names,
    atMs: ms,
    incidents: z.array(z.union([endedIncident, incident])),
    remaining: count,
  }),
  queuedMs: ms,
  ageMs: ms.exactOptional(),
  attempts: count,
});

/**
 * The text that `decodeKept` reads, in pieces of one entry at most: all of it at once can take half a second. What is
 * kept must not change meanwhile.
 */
export function* keptText({ version, state, outbox }: KeptAlerts): Generator<string> {
  yield `{"version":${version},"state":{"incidents":`;
  yield* objectText(state.incidents);
  yield ',"batches":';
  yield* objectText(state.batches);
  if (state.overflow) yield `,"overflow":${JSON.stringify(state.overflow)}`;
  yield '},"outbox":{';
  for (const [index, [receiver, queue]] of Object.entries(outbox).entries()) {
    yield `${index === 0 ? '' : ','}${JSON.stringify(receiver)}:[`;
    for (const [place, each] of queue.entries()) yield `${place === 0 ? '' : ','}${JSON.stringify(each)}`;
    yield ']';
  }
  yield '}}';
}

function* objectText(values: { readonly [key: string]: unknown }): Generator<string> {
  yield '{';
  for (const [index, [key, value]] of Object.entries(values).entries())
    yield `${index === 0 ? '' : ','}${JSON.stringify(key)}:${JSON.stringify(value)}`;
  yield '}';
}

/** Undefined: nothing of it can be used. */
export function decodeKept(text: string): DecodedAlerts | undefined {
  const value = parsed(text);
  if (!isRecord(value) || value.version !== alertLogVersion || !isRecord(value.state)) return undefined;
  const problems: string[] = [];
  const { state } = value;
  const batches = entriesOf(state.batches, { place: 'batches', schema: batch, problems });
  const incidents = entriesOf(state.incidents, { place: 'incidents', schema: incident, problems });
  const kept = {
    version: alertLogVersion,
    state: { ...agreeing(incidents, batches), ...overflowOf(state.overflow, problems) },
    outbox: outboxOf(value.outbox, problems),
  } as const;
  return { kept, problems };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const isRecord = (value: unknown): value is { readonly [key: string]: unknown } =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

type Entries<Value> = {
  readonly place: string;
  readonly schema: z.ZodType<Value>;
  readonly problems: string[];
};

function entriesOf<Value>(values: unknown, { place, schema, problems }: Entries<Value>): ReadonlyMap<string, Value> {
  const found = new Map<string, Value>();
  if (!isRecord(values)) problems.push(`${place} must be an object`);
  else
    for (const [key, value] of Object.entries(values)) {
      const entry = checked(value, { place: `${place}.${key}`, schema, problems });
      if (entry !== undefined) found.set(key, entry);
    }
  return found;
}

function checked<Value>(value: unknown, { place, schema, problems }: Entries<Value>): Value | undefined {
  const { success, data, error } = schema.safeParse(value);
  if (success) return data;
  const [issue] = error.issues;
  if (issue) problems.push(`${place}: ${[issue.path.join('.'), issueDetail(issue, value)].filter(Boolean).join(' ')}`);
  return undefined;
}

/**
 * An incident whose batch is not there has no batch, so that it is reported again, under the same id. A batch reports
 * only incidents that say that they are in it.
 */
function agreeing(
  incidents: ReadonlyMap<string, Incident>,
  batches: ReadonlyMap<string, Batch>,
): Pick<AlertState, 'incidents' | 'batches'> {
  const isInBatch = (key: string, id: string) => incidents.get(key)?.batch === id;
  return {
    incidents: fromEntries(
      [...incidents].map(([key, { batch: id, ...rest }]) => {
        const isThere = id !== undefined && batches.get(id)?.firing.includes(key);
        return [key, isThere ? { ...rest, batch: id } : rest];
      }),
    ),
    batches: fromEntries(
      [...batches].map(([id, each]) => [id, { ...each, id, firing: each.firing.filter((key) => isInBatch(key, id)) }]),
    ),
  };
}

function overflowOf(value: unknown, problems: string[]): Pick<AlertState, 'overflow'> {
  if (value === undefined) return {};
  const found = checked(value, { place: 'overflow', schema: overflow, problems });
  return found ? { overflow: found } : {};
}

/** The order of a queue stays. */
function outboxOf(value: unknown, problems: string[]): AlertOutbox {
  if (!isRecord(value)) {
    problems.push('outbox must be an object');
    return {};
  }
  return fromEntries(
    Object.entries(value).map(([receiver, queue]) => {
      const place = `outbox.${receiver}`;
      if (!Array.isArray(queue)) problems.push(`${place} must be a list`);
      const items = Array.isArray(queue) ? queue : [];
      return [
        receiver,
        items.flatMap((item, at) => checked(item, { place: `${place}.${at}`, schema: queued, problems }) ?? []),
      ];
    }),
  );
}

/** Only own properties, because a key may be the name of an inherited one. */
const fromEntries = <Value>(entries: readonly (readonly [string, Value])[]): { readonly [key: string]: Value } =>
  Object.fromEntries(entries);

// Instants. The wall clock may be set while no process runs: then no duration is longer than one that begins at the
// start.

/** Less is not worth a copy of the state. */
export const clockStepMsMin = 1_000;

/** How far the wall clock is ahead of steady time, because it was set. */
export const aheadMs = ({ wallMs, steadyMs }: AlertTime): number => wallMs - steadyMs;

/** The state as it is kept, by the wall clock. */
export function byTheWall(state: AlertState, time: AlertTime): AlertState {
  const shiftMs = aheadMs(time);
  const shift = (ms: number) => ms + shiftMs;
  return Math.abs(shiftMs) < clockStepMsMin ? state : moved(state, shift, shift);
}

/** The kept state, for a process that has just started. */
export const continued = (state: AlertState, { steadyMs }: AlertTime): AlertState =>
  moved(
    state,
    (ms) => Math.min(ms, steadyMs),
    (ms) => Math.min(ms, steadyMs + groupWindowMs),
  );

/** The state with its instants moved: `past` for those that have come, `end` for the ends of windows. */
function moved(state: AlertState, past: (ms: number) => number, end: (ms: number) => number): AlertState {
  const incidents = Object.entries(state.incidents).map(([key, incident]) => {
    return [key, { ...incident, beganMs: past(incident.beganMs ?? incident.sinceMs) }] as const;
  });
  const batches = Object.entries(state.batches).map(([id, { reportAtMs, reportedMs, ...rest }]) => {
    const window = reportAtMs !== undefined && { reportAtMs: end(reportAtMs) };
    return [id, { ...rest, ...window, ...(reportedMs !== undefined && { reportedMs: past(reportedMs) }) }] as const;
  });
  return { ...state, incidents: Object.fromEntries(incidents), batches: Object.fromEntries(batches) };
}
