/**
 * The schemas of the stored records, checked at every read. Unknown attributes, which a newer release may have added,
 * are dropped. A missing required attribute makes the one item poison, so every attribute that is added is optional.
 */
import * as z from 'zod';
import type {
  EventRecord,
  HangRecord,
  HistoryBudget,
  Incarnation,
  ProbeRecord,
  ReportRecord,
  RestartRequest,
  StatusRecord,
  TargetRecord,
} from '../../core/spec/records.ts';
import {
  type Condition,
  type ContainerState,
  type ContainerStatus,
  failureClasses,
  type PodStatus,
} from '../../core/spec/types.ts';
import { outboxEvent } from './outbox-schema.ts';
import { targetSpec } from './spec-schemas.ts';
import {
  type Attributes,
  atLeastOne,
  conditionStatus,
  count,
  instantMs,
  phase,
  probeType,
  result,
} from './value-schemas.ts';

/** EPOCH: the token with which a run may commit in a bucket. */
export type EpochRecord = { readonly token: number; readonly shard: string; readonly claimedAtMs: number };

/** One probe's run length. It is valid only for the same uid and streak. */
export type CheckpointEntry = {
  readonly uid: string;
  readonly streak: number;
  readonly resultRun: number;
  readonly lastResult?: ProbeRecord['lastResult'];
  /** The probe was pending when the run ended. The next holder executes it at once. */
  readonly owed?: boolean;
  /** The number of manual triggers in TARGET that have been passed on. Absent if there were none. */
  readonly requestsSeen?: number;
};

/** CHECKPOINT: the run lengths of a bucket's probes, by the sort keys of their PROBE items. */
export type CheckpointRecord = { readonly entries: { readonly [probeSk: string]: CheckpointEntry } };

const texts = z.record(z.string(), z.string());

const failureClass = z.enum(failureClasses);

type StateOf<Kind extends ContainerState['kind']> = Extract<ContainerState, { readonly kind: Kind }>;

const containerState: z.ZodType<ContainerState> = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('running'), startedAtMs: instantMs } satisfies Attributes<StateOf<'running'>>),
  z.object({
    kind: z.literal('waiting'),
    reason: z.string().exactOptional(),
    message: z.string().exactOptional(),
  } satisfies Attributes<StateOf<'waiting'>>),
  z.object({
    kind: z.literal('terminated'),
    exitCode: z.int(),
    reason: z.string().exactOptional(),
    message: z.string().exactOptional(),
    startedAtMs: instantMs.exactOptional(),
    finishedAtMs: instantMs.exactOptional(),
  } satisfies Attributes<StateOf<'terminated'>>),
]);

const containerStatus: z.ZodType<ContainerStatus> = z.object({
  name: z.string(),
  containerID: z.string(),
  state: containerState.exactOptional(),
  lastState: containerState.exactOptional(),
  ready: z.boolean(),
  started: z.boolean().nullable(),
  restartCount: count,
} satisfies Attributes<ContainerStatus>);

const condition: z.ZodType<Condition> = z.object({
  type: z.string(),
  status: conditionStatus,
  reason: z.string().exactOptional(),
  message: z.string().exactOptional(),
  lastTransitionTimeMs: instantMs.exactOptional(),
  observedGeneration: z.int().exactOptional(),
} satisfies Attributes<Condition>);

const podStatus: z.ZodType<PodStatus> = z.object({
  phase,
  reason: z.string().exactOptional(),
  message: z.string().exactOptional(),
  startTimeMs: instantMs.exactOptional(),
  conditions: z.array(condition),
  initContainerStatuses: z.array(containerStatus),
  containerStatuses: z.array(containerStatus),
} satisfies Attributes<PodStatus>);

const incarnation: z.ZodType<Incarnation> = z.object({
  restartCount: count,
  startedAtMs: instantMs,
  joinedGeneration: count.exactOptional(),
} satisfies Attributes<Incarnation>);

const restartRequest: z.ZodType<RestartRequest> = z.object({
  id: z.string(),
  containerID: z.string(),
  probeType,
  requestedAtMs: instantMs,
  terminationGracePeriodSeconds: count,
  message: z.string(),
  published: count,
  nextAtMs: instantMs,
  answered: z.boolean().exactOptional(),
} satisfies Attributes<RestartRequest>);

type StoredAttempt = EventRecord['attempts'][number];

const attempt: z.ZodType<StoredAttempt> = z.object({
  timeMs: instantMs,
  outcome: z.enum(['success', 'warning', 'failure', 'unknown']),
  output: z.string(),
  error: z.string().exactOptional(),
  failureClass: failureClass.exactOptional(),
  timings: z.object({
    dnsMs: z.number().exactOptional(),
    connectMs: z.number().exactOptional(),
    tlsMs: z.number().exactOptional(),
    firstByteMs: z.number().exactOptional(),
    totalMs: z.number(),
  } satisfies Attributes<StoredAttempt['timings']>),
} satisfies Attributes<StoredAttempt>);

/** A record's schema, including the names of all its attributes. */
export type RecordSchema<Record> = z.ZodType<Record> & { readonly shape: { readonly [attribute: string]: unknown } };

export const targetSchema: RecordSchema<TargetRecord> = z.object({
  uid: z.string(),
  namespace: z.string(),
  name: z.string(),
  labels: texts,
  annotations: texts,
  generation: count,
  resourceVersion: count,
  creationTimestampMs: instantMs,
  deletionTimestampMs: instantMs.exactOptional(),
  deletionGracePeriodSeconds: count.exactOptional(),
  spec: targetSpec,
  probeRequests: z.record(z.string(), count),
  incarnations: z.record(z.string(), incarnation).exactOptional(),
} satisfies Attributes<TargetRecord>);

export const reportSchema: RecordSchema<ReportRecord> = z.object({
  uid: z.string(),
  version: count,
  reportedAtMs: instantMs,
  beganAtMs: z.record(z.string(), instantMs).exactOptional(),
  phase: phase.exactOptional(),
  initContainerStatuses: z.array(containerStatus),
  containerStatuses: z.array(containerStatus),
  conditions: z.array(condition),
} satisfies Attributes<ReportRecord>);

const probeUnknown = z.object({
  reason: z.enum(['PolicyDenied', 'ProberError']),
  failureClass,
  message: z.string(),
} satisfies Attributes<NonNullable<ProbeRecord['unknown']>>);

const endedWith = z.object({
  result: result.exactOptional(),
  unknown: probeUnknown.exactOptional(),
} satisfies Attributes<NonNullable<ProbeRecord['endedWith']>>);

const historyBudget = z.object({
  fullAtMs: instantMs,
  omitted: z.object({
    transition: count.exactOptional(),
    recorded: count.exactOptional(),
  } satisfies Attributes<HistoryBudget['omitted']>),
} satisfies Attributes<HistoryBudget>);

export const probeSchema: RecordSchema<ProbeRecord> = z.object({
  uid: z.string(),
  container: z.string(),
  probeType,
  containerID: z.string(),
  result: result.exactOptional(),
  version: count,
  streak: count,
  lastResult: result.exactOptional(),
  resultRun: count,
  onHold: z.boolean(),
  ended: z.boolean(),
  sinceMs: instantMs,
  specDigest: z.string(),
  output: z.string(),
  failureClass: failureClass.exactOptional(),
  lastProbeTimeMs: instantMs.exactOptional(),
  unknown: probeUnknown.exactOptional(),
  endedAtMs: instantMs.exactOptional(),
  endedWith: endedWith.exactOptional(),
  history: historyBudget.exactOptional(),
} satisfies Attributes<ProbeRecord>);

export const statusSchema: RecordSchema<StatusRecord> = z.object({
  uid: z.string(),
  version: count,
  observedResourceVersion: count,
  observedReportVersion: count,
  status: podStatus,
  restartRequests: z.record(z.string(), restartRequest),
  acked: z.record(z.string(), count),
  outbox: z.array(outboxEvent),
} satisfies Attributes<StatusRecord>);

export const hangSchema: RecordSchema<HangRecord> = z.object({
  uid: z.string(),
  version: count,
  generation: count,
  hungAtMs: instantMs,
  hangs: z.record(z.string(), count),
} satisfies Attributes<HangRecord>);

export const eventSchema: RecordSchema<EventRecord> = z.object({
  id: z.string(),
  uid: z.string(),
  timeMs: instantMs,
  kind: z.enum(['transition', 'recorded']),
  type: z.enum(['Normal', 'Warning']),
  reason: z.string(),
  message: z.string(),
  container: z.string().exactOptional(),
  probeType: probeType.exactOptional(),
  containerID: z.string().exactOptional(),
  result: result.exactOptional(),
  previousResult: result.exactOptional(),
  initial: z.boolean().exactOptional(),
  count: atLeastOne,
  attempts: z.array(attempt),
} satisfies Attributes<EventRecord>);

export const epochSchema: RecordSchema<EpochRecord> = z.object({
  token: count,
  shard: z.string(),
  claimedAtMs: instantMs,
} satisfies Attributes<EpochRecord>);

const checkpointEntry: z.ZodType<CheckpointEntry> = z.object({
  uid: z.string(),
  streak: count,
  resultRun: count,
  lastResult: result.exactOptional(),
  owed: z.boolean().exactOptional(),
  requestsSeen: count.exactOptional(),
} satisfies Attributes<CheckpointEntry>);

export const checkpointSchema: RecordSchema<CheckpointRecord> = z.object({
  entries: z.record(z.string(), checkpointEntry),
} satisfies Attributes<CheckpointRecord>);
