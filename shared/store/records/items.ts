/**
 * Converts records to items and back. An item is flat: the key, `kind`, `schemaVersion` and the record's attributes, so
 * that conditions can refer to them.
 */
import type * as z from 'zod';
import type {
  EventRecord,
  HangRecord,
  ProbeRecord,
  ReportRecord,
  StatusRecord,
  TargetRecord,
} from '../../core/spec/records.ts';
import { type ProbeName, probeName } from '../../core/spec/spec.ts';
import type { Json } from '../../lib/json.ts';
import type { Item, Key, Operation } from '../store.ts';
import {
  type Bucket,
  changesKey,
  checkpointKey,
  epochKey,
  eventKey,
  hangKey,
  latestKey,
  layoutKey,
  noHolderKey,
  probeKey,
  reportKey,
  runKey,
  statusKey,
  type TargetAddress,
  targetKey,
  weightKey,
} from './keys.ts';
import {
  type CheckpointRecord,
  checkpointSchema,
  type EpochRecord,
  epochSchema,
  type LayoutRecord,
  layoutSchema,
  type NoHolderRecord,
  noHolderSchema,
  type RunRecord,
  runSchema,
  type WeightRecord,
  weightSchema,
} from './shard-records.ts';
import { eventSchema, hangSchema, probeSchema, reportSchema, statusSchema, targetSchema } from './target-records.ts';

/** Additive changes keep this version. A release rejects items with a higher one. */
export const itemSchemaVersion = 1;

/** The TTL deletes EVENT items after seven days. */
export const eventRetentionSeconds = 7 * 24 * 60 * 60;

/** A quarantined item stands alone: it is never written to, and other items are unaffected. */
export type Decoded<Record> = { readonly kind: 'ok'; readonly record: Record } | ({ readonly kind: 'poison' } & Poison);

/** An item that cannot be read. */
export type Poison = { readonly key: Key; readonly detail: string };

type RecordKind =
  | 'TARGET'
  | 'REPORT'
  | 'PROBE'
  | 'STATUS'
  | 'HANG'
  | 'EVENT'
  | 'EPOCH'
  | 'CHECKPOINT'
  | 'RUN'
  | 'LAYOUT'
  | 'WEIGHT'
  | 'NOHOLDER';

export type ItemKind = RecordKind | 'CHANGES';

const schemas: { readonly [kind in RecordKind]: { readonly shape: object } } = {
  TARGET: targetSchema,
  REPORT: reportSchema,
  PROBE: probeSchema,
  STATUS: statusSchema,
  HANG: hangSchema,
  EVENT: eventSchema,
  EPOCH: epochSchema,
  CHECKPOINT: checkpointSchema,
  RUN: runSchema,
  LAYOUT: layoutSchema,
  WEIGHT: weightSchema,
  NOHOLDER: noHolderSchema,
};

export const encodeTarget = (at: TargetAddress, record: TargetRecord): Item => encode('TARGET', targetKey(at), record);
export const encodeReport = (at: TargetAddress, record: ReportRecord): Item => encode('REPORT', reportKey(at), record);
export const encodeStatus = (at: TargetAddress, record: StatusRecord): Item => encode('STATUS', statusKey(at), record);
export const encodeHang = (at: TargetAddress, record: HangRecord): Item => encode('HANG', hangKey(at), record);

/**
 * The name under which PROBE has `lastChangeTimeMs`. A release that knows only this name would say of a probe without
 * it that it was never done, so it is still written. Items with the record's own name can be read already, so that a
 * later release may write it and remove this one: of an item that has both, this one was written later.
 */
const changeTimeAttribute = 'lastProbeTimeMs';

export function encodeProbe(at: TargetAddress, { lastChangeTimeMs, ...record }: ProbeRecord): Item {
  const changeTime = lastChangeTimeMs !== undefined && { [changeTimeAttribute]: lastChangeTimeMs };
  return encode('PROBE', probeKey(at, probeName(record.container, record.probeType)), { ...record, ...changeTime });
}

/**
 * The attribute of a PROBE item that DELETE sets for liveness and startup: from then on a commit of the holder can only
 * end the worker. It is not part of the record, so that no commit removes it.
 */
export const stoppedAttribute = 'stopped';

/** DELETE stops the probe. */
export const stopProbe = (at: TargetAddress, { uid, container, probeType }: ProbeRecord): Operation => ({
  kind: 'update',
  key: probeKey(at, probeName(container, probeType)),
  set: { [stoppedAttribute]: true },
  if: [{ kind: 'equals', attribute: 'uid', value: uid }],
});

/** An item's `kind` is its record type, so the event's kind is stored as `eventKind`. */
export function encodeEvent(at: TargetAddress, { kind, ...record }: EventRecord): Item {
  const expiresAt = Math.floor(record.timeMs / 1000) + eventRetentionSeconds;
  return encode('EVENT', eventKey(at, record.id), { ...record, eventKind: kind, expiresAt });
}

/**
 * Encodes the event again under its probe's key and without an expiry, so that it stays as long as the result that it
 * led to.
 */
export function encodeLatest(at: TargetAddress, probe: ProbeName, { kind, ...record }: EventRecord): Item {
  return encode('EVENT', latestKey(at, probe), { ...record, eventKind: kind });
}

export const encodeEpoch = (bucket: Bucket, record: EpochRecord): Item => encode('EPOCH', epochKey(bucket), record);
export const encodeRun = (shard: string, record: RunRecord): Item => encode('RUN', runKey(shard), record);
export const encodeWeight = (bucket: Bucket, record: WeightRecord): Item => encode('WEIGHT', weightKey(bucket), record);
export const encodeNoHolder = (record: NoHolderRecord): Item => encode('NOHOLDER', noHolderKey, record);

/** The attribute of LAYOUT that repeats a shard's generation, so that a condition can refer to it. */
export const generationAttribute = (shard: string): string => `generation:${shard}`;

export function encodeLayout(record: LayoutRecord): Item {
  const generations = record.shards.map(({ shard, generation }) => [generationAttribute(shard), generation]);
  return { ...encode('LAYOUT', layoutKey, record), ...Object.fromEntries(generations) };
}

export const encodeCheckpoint = (bucket: Bucket, record: CheckpointRecord, part = 0): Item =>
  encode('CHECKPOINT', checkpointKey(bucket, part), record);

/** The total that all changes have added to a bucket: targets, and the share of a vCPU that they need. */
export type Added = { readonly targets: number; readonly cpu: number };

/**
 * Increments the change counter through which the bucket's holder notices that a target changed. Apply it before and
 * after the change, also when repeating one; the second time with what the change added.
 */
export const changeCounted = (
  at: TargetAddress,
  { targets, cpu }: Added = { targets: 0, cpu: 0 },
): Operation & { readonly kind: 'update' } => ({
  kind: 'update',
  key: changesKey(at.bucket),
  set: { kind: 'CHANGES', schemaVersion: itemSchemaVersion },
  add: { [at.slice]: 1, ...(targets !== 0 && { targetsAdded: targets }), ...(cpu !== 0 && { cpuAdded: cpu }) },
});

/** Reads the totals from a bucket's CHANGES item. */
export const addedIn = ({ targetsAdded, cpuAdded }: Item): Added => ({
  targets: typeof targetsAdded === 'number' ? targetsAdded : 0,
  cpu: typeof cpuAdded === 'number' ? cpuAdded : 0,
});

/**
 * Returns an update that makes the stored record equal to the item: it sets the attributes that the item has and
 * removes those that it lacks.
 */
export function updateTo(item: Item): Pick<Operation & { readonly kind: 'update' }, 'kind' | 'key' | 'set' | 'remove'> {
  const { pk, sk, ...set } = item;
  const names = Object.keys(schemas[item.kind as RecordKind].shape).map((name) =>
    name === 'lastChangeTimeMs' ? changeTimeAttribute : name,
  );
  return { kind: 'update', key: { pk, sk }, set, remove: names.filter((name) => set[name] === undefined) };
}

export const decodeReport = (item: Item): Decoded<ReportRecord> => decode('REPORT', reportSchema, item);
export const decodeStatus = (item: Item): Decoded<StatusRecord> => decode('STATUS', statusSchema, item);
export const decodeHang = (item: Item): Decoded<HangRecord> => decode('HANG', hangSchema, item);
export const decodeEpoch = (item: Item): Decoded<EpochRecord> => decode('EPOCH', epochSchema, item);
export const decodeRun = (item: Item): Decoded<RunRecord> => decode('RUN', runSchema, item);
export const decodeLayout = (item: Item): Decoded<LayoutRecord> => decode('LAYOUT', layoutSchema, item);
export const decodeWeight = (item: Item): Decoded<WeightRecord> => decode('WEIGHT', weightSchema, item);
export const decodeNoHolder = (item: Item): Decoded<NoHolderRecord> => decode('NOHOLDER', noHolderSchema, item);
export const decodeCheckpoint = (item: Item): Decoded<CheckpointRecord> => decode('CHECKPOINT', checkpointSchema, item);

/**
 * Checks that the record names the same target as its key. Otherwise it would be written back under a different key.
 */
export function decodeTarget(item: Item): Decoded<TargetRecord> {
  const decoded = decode('TARGET', targetSchema, item);
  if (decoded.kind === 'poison') return decoded;
  return named(decoded, item, `#${decoded.record.namespace}/${decoded.record.name}#TARGET`);
}

export function decodeProbe(item: Item): Decoded<ProbeRecord> {
  const { [changeTimeAttribute]: lastChangeTimeMs } = item;
  const decoded = decode('PROBE', probeSchema, lastChangeTimeMs === undefined ? item : { ...item, lastChangeTimeMs });
  if (decoded.kind === 'poison') return decoded;
  return named(decoded, item, `#PROBE#${probeName(decoded.record.container, decoded.record.probeType)}`);
}

export function decodeEvent(item: Item): Decoded<EventRecord> {
  const problem = headerProblem('EVENT', item);
  return problem ? poison(item, problem) : parsed(eventSchema, { ...item, kind: item.eventKind }, item);
}

/** `record` is plain JSON by its type. */
function encode(kind: RecordKind, key: Key, record: object): Item {
  const attributes = record as { readonly [attribute: string]: Json | undefined };
  return { ...attributes, ...key, kind, schemaVersion: itemSchemaVersion };
}

function decode<Record>(kind: RecordKind, schema: z.ZodType<Record>, item: Item): Decoded<Record> {
  const problem = headerProblem(kind, item);
  return problem ? poison(item, problem) : parsed(schema, item, item);
}

function headerProblem(kind: ItemKind, item: Item): string | undefined {
  if (item.kind !== kind) return `kind: not ${kind}`;
  if (typeof item.schemaVersion !== 'number') return 'schemaVersion: not a number';
  if (item.schemaVersion > itemSchemaVersion) return `schemaVersion: ${item.schemaVersion} is newer than this release`;
  return undefined;
}

/** How many validation errors are shown. */
const issuesMax = 3;

function parsed<Record>(schema: z.ZodType<Record>, attributes: unknown, item: Item): Decoded<Record> {
  const outcome = schema.safeParse(attributes);
  if (outcome.success) return { kind: 'ok', record: outcome.data };
  const issues = outcome.error.issues.slice(0, issuesMax);
  return poison(item, issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`).join('; '));
}

function named<Record>(decoded: Decoded<Record>, item: Item, end: string): Decoded<Record> {
  return item.sk.endsWith(end) ? decoded : poison(item, 'the record names another item');
}

const poison = (item: Item, detail: string): { readonly kind: 'poison' } & Poison => ({
  kind: 'poison',
  key: { pk: item.pk, sk: item.sk },
  detail,
});
