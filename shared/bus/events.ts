/**
 * The events on the bus. Each has one zod schema, from which the TypeScript type and the published JSON Schema are
 * derived. What the table and the API have too is described in shared/schema/terms.ts.
 */
import * as z from 'zod';
import * as terms from '../schema/terms.ts';

const { probeType, result } = terms;

export const schemaVersion = 1;

const instant = z.iso.datetime();

const target = z.object({ namespace: z.string(), name: z.string(), uid: z.string() });

const attempt = z.object({ time: instant, ...terms.attempt });
const targetStatus = z.object(terms.shownStatus);

/** Of an event about the prober of a shard. */
const ofShard = {
  schemaVersion: z.literal(schemaVersion),
  id: z.string(),
  shard: z.string(),
  hashRange: z.string(),
};

const common = { schemaVersion: z.literal(schemaVersion), id: z.string(), target };
const recorded = {
  ...common,
  container: z.string(),
  probeType,
  message: z.string(),
  count: z.int().min(1),
  attempts: z.array(attempt),
};

export const eventSchemas = {
  'Probe Result Changed': z.object({
    ...common,
    container: z.string(),
    containerID: z.string(),
    probeType,
    /** Absent if the result is unknown because the worker has ended or starts again. */
    result: result.optional(),
    /** Why the probe cannot be executed, if the result is unknown for that reason. */
    reason: terms.unknownReason.optional(),
    failureClass: z.string().optional(),
    /** Absent if the container's probe had no result before. */
    previousResult: result.optional(),
    /** This is the first result of the container's probe. */
    initial: z.boolean().optional(),
    version: z.int(),
    output: z.string(),
    attempts: z.array(attempt),
  }),
  'Target Status Changed': z.object({
    ...common,
    resourceVersion: z.string(),
    oldStatus: targetStatus,
    newStatus: targetStatus,
  }),
  'Container Unhealthy': z.object(recorded),
  'Container Probe Warning': z.object(recorded),
  'Container Restart Requested': z.object({ ...common, ...terms.restartRequested }),
  'Container Recovered': z.object({ ...common, ...terms.recovered, failedSince: instant }),
  'Prober Degraded': z.object({
    ...ofShard,
    reason: z.string(),
    /** The only way out that is cut, if it is one of two. */
    route: z.enum(['private', 'public']).optional(),
    since: instant,
  }),
  'Prober Recovered': z.object({
    ...ofShard,
    since: instant,
  }),
  'Prober Overloaded': z.object({
    ...ofShard,
    /** What there is too little of when it begins: `Cpu` or `Sockets`. */
    reason: z.string(),
    since: instant,
  }),
  'Prober Caught Up': z.object({
    ...ofShard,
    since: instant,
  }),
  'Prober Release Refused': z.object({
    schemaVersion: z.literal(schemaVersion),
    id: z.string(),
    release: z.string(),
  }),
  'Probe Surge Detected': z.object({
    ...ofShard,
    /**
     * When the surge was detected: how many targets had turned unhealthy within a minute or were about to, and how many
     * targets there were.
     */
    turning: z.int().min(1),
    targets: z.int().min(1),
    since: instant,
  }),
  'Target Sync Requested': z.object({ ...common, reason: z.string() }),
} as const;

export type DetailType = keyof typeof eventSchemas;
export type EventDetail<Type extends DetailType> = Immutable<z.infer<(typeof eventSchemas)[Type]>>;

type Immutable<Value> = { readonly [Key in keyof Value]: Immutable<Value[Key]> };

/** An event as the bus takes it; `detail` conforms to one of `eventSchemas`. */
export type BusEvent<Type extends DetailType = DetailType> = {
  readonly [T in Type]: { readonly detailType: T; readonly timeMs: number; readonly detail: EventDetail<T> };
}[Type];

/** EventBridge's `source` for every event. */
export const eventSource = 'probelet';

type SyncRequest = { readonly reason: string; readonly id: string; readonly timeMs: number };

/**
 * Asks status-sync to look at the target. `reason` is shown, `id` identifies repetitions; `timeMs` is in ms since the
 * epoch.
 */
export function syncRequested(
  { namespace, name, uid }: { readonly namespace: string; readonly name: string; readonly uid: string },
  { reason, id, timeMs }: SyncRequest,
): BusEvent {
  const detail = { schemaVersion, id, target: { namespace, name, uid }, reason } as const;
  return { detailType: 'Target Sync Requested', timeMs, detail };
}
