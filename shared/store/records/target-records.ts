/**
 * The schemas of a target's items: TARGET, REPORT, PROBE, STATUS, HANG and EVENT, checked at every read. Unknown
 * attributes, which a newer release may have added, are dropped. A missing required attribute makes the one item
 * poison, so every attribute that is added is optional.
 */
import * as z from 'zod';
import { type Field, isRequired, mapShape } from '../../core/spec/handler-fields.ts';
import { type Handlers, mapHandlers } from '../../core/spec/handlers.ts';
import type {
  EventRecord,
  Finding,
  HangRecord,
  HistoryBudget,
  Incarnation,
  OutboxEvent,
  ProbeRecord,
  ProbeUnknown,
  ReportRecord,
  RestartRequest,
  ShownStatus,
  StatusRecord,
  TargetRecord,
} from '../../core/spec/records.ts';
import type { ContainerSpec, Probe, TargetSpec } from '../../core/spec/spec.ts';
import {
  type Condition,
  type ContainerState,
  type ContainerStatus,
  failureClasses,
  type PodStatus,
} from '../../core/spec/types.ts';
import { type Attributes, exact, type ObjectSchema, unionOf } from '../../schema/schema-of.ts';
import * as terms from '../../schema/terms.ts';

const { phase, probeType, result, restartPolicy } = terms;

const count = z.int().min(0);
const atLeastOne = z.int().min(1);
const instantMs = z.number();
const text = z.string();
const texts = z.record(z.string(), z.string());
const portNumber = z.int().min(1).max(65_535);
const failureClass = z.enum(failureClasses);

const fields: { readonly [Kind in Exclude<Field['kind'], 'choice'>]: z.ZodType } = {
  text,
  texts: z.array(text),
  port: portNumber,
  portRef: z.union([portNumber, text]),
  headers: z.array(z.object({ name: text, value: text })),
};

/** One that has a default gets it where an item lacks it: the release that wrote the item did not know the field. */
function fieldOf(field: Field): z.ZodType {
  const schema = field.kind === 'choice' ? z.enum(field.of) : fields[field.kind];
  if ('default' in field) return schema.default(field.default);
  return isRequired(field) ? schema : schema.exactOptional();
}

/** The types of the handlers are made from the same rows. */
const handlers = mapHandlers((shape) =>
  z.object(mapShape(shape, fieldOf)).exactOptional(),
) as unknown as Attributes<Handlers>;

/** A period or threshold of 0 would make the loop spin and affect the whole shard, so such an item is poison. */
const probe: ObjectSchema<Probe> = z.object({
  ...handlers,
  initialDelaySeconds: count,
  periodSeconds: atLeastOne,
  timeoutSeconds: atLeastOne,
  successThreshold: atLeastOne,
  failureThreshold: atLeastOne,
  terminationGracePeriodSeconds: count.exactOptional(),
});

const containerSpec: ObjectSchema<ContainerSpec> = z.object({
  name: text,
  ports: z.array(z.object({ name: text.exactOptional(), containerPort: portNumber })).exactOptional(),
  env: z.array(z.object({ name: text, value: text })).exactOptional(),
  restartPolicy: restartPolicy.exactOptional(),
  restartPolicyRules: z
    .array(z.object({ action: terms.restartAction, operator: terms.exitCodeOperator, values: z.array(z.int()) }))
    .exactOptional(),
  startupProbe: probe.exactOptional(),
  readinessProbe: probe.exactOptional(),
  livenessProbe: probe.exactOptional(),
});

const targetSpec: ObjectSchema<TargetSpec> = z.object({
  host: text,
  restartPolicy,
  lifecycle: terms.lifecycle,
  terminationGracePeriodSeconds: count,
  readinessGates: z.array(z.object({ conditionType: text })),
  initContainers: z.array(containerSpec),
  containers: z.array(containerSpec),
});

const incarnation: ObjectSchema<Incarnation> = z.object({
  restartCount: count,
  startedAtMs: instantMs,
  joinedGeneration: count.exactOptional(),
});

export const targetSchema: ObjectSchema<TargetRecord> = z.object({
  uid: text,
  namespace: text,
  name: text,
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
});

const containerState = unionOf<ContainerState, 'kind'>('kind', {
  running: z.object({ kind: z.literal('running'), startedAtMs: instantMs }),
  waiting: z.object({ kind: z.literal('waiting'), reason: text.exactOptional(), message: text.exactOptional() }),
  terminated: z.object({
    kind: z.literal('terminated'),
    exitCode: z.int(),
    reason: text.exactOptional(),
    message: text.exactOptional(),
    startedAtMs: instantMs.exactOptional(),
    finishedAtMs: instantMs.exactOptional(),
  }),
});

const containerStatus: ObjectSchema<ContainerStatus> = z.object({
  name: text,
  containerID: text,
  state: containerState.exactOptional(),
  lastState: containerState.exactOptional(),
  ready: z.boolean(),
  started: z.boolean().nullable(),
  restartCount: count,
});

const condition: ObjectSchema<Condition> = z.object({
  ...exact(terms.condition),
  lastTransitionTimeMs: instantMs.exactOptional(),
  observedGeneration: z.int().exactOptional(),
});

export const reportSchema: ObjectSchema<ReportRecord> = z.object({
  uid: text,
  version: count,
  reportedAtMs: instantMs,
  beganAtMs: z.record(z.string(), instantMs).exactOptional(),
  phase: phase.exactOptional(),
  initContainerStatuses: z.array(containerStatus),
  containerStatuses: z.array(containerStatus),
  conditions: z.array(condition),
});

const probeUnknown: ObjectSchema<ProbeUnknown> = z.object({
  reason: terms.unknownReason,
  failureClass,
  message: text,
});

const finding: ObjectSchema<Finding> = z.object({
  result: result.exactOptional(),
  unknown: probeUnknown.exactOptional(),
});

const historyBudget: ObjectSchema<HistoryBudget> = z.object({
  fullAtMs: instantMs,
  omitted: z.object({ transition: count.exactOptional(), recorded: count.exactOptional() }),
});

export const probeSchema: ObjectSchema<ProbeRecord> = z.object({
  uid: text,
  container: text,
  probeType,
  containerID: text,
  result: result.exactOptional(),
  version: count,
  streak: count,
  lastResult: result.exactOptional(),
  resultRun: count,
  onHold: z.boolean(),
  ended: z.boolean(),
  sinceMs: instantMs,
  specDigest: text,
  output: text,
  failureClass: failureClass.exactOptional(),
  lastChangeTimeMs: instantMs.exactOptional(),
  unknown: probeUnknown.exactOptional(),
  endedAtMs: instantMs.exactOptional(),
  endedWith: finding.exactOptional(),
  history: historyBudget.exactOptional(),
});

const podStatus: ObjectSchema<PodStatus> = z.object({
  phase,
  reason: text.exactOptional(),
  message: text.exactOptional(),
  startTimeMs: instantMs.exactOptional(),
  conditions: z.array(condition),
  initContainerStatuses: z.array(containerStatus),
  containerStatuses: z.array(containerStatus),
});

const restartRequest: ObjectSchema<RestartRequest> = z.object({
  id: text,
  containerID: text,
  probeType,
  requestedAtMs: instantMs,
  terminationGracePeriodSeconds: count,
  message: text,
  published: count,
  nextAtMs: instantMs,
  answered: z.boolean().exactOptional(),
});

const shownStatus: ObjectSchema<ShownStatus> = z.object({
  phase,
  conditions: z.array(z.object(exact(terms.condition))),
  containers: z.array(z.object({ ...terms.shownContainer, restartCount: count })),
});

const outboxEntry = { id: text, timeMs: instantMs };

/** An entry of another form does not make the whole status unreadable. */
const unreadable = z
  .object({ ...outboxEntry, detailType: text })
  .transform(({ detailType, ...rest }) => ({ ...rest, detailType: 'Unreadable' as const, storedType: detailType }));

const outboxEvent = unionOf<OutboxEvent, 'detailType'>(
  'detailType',
  {
    'Target Status Changed': z.object({
      ...outboxEntry,
      detailType: z.literal('Target Status Changed'),
      detail: z.object({ resourceVersion: text, oldStatus: shownStatus, newStatus: shownStatus }),
    }),
    'Container Restart Requested': z.object({
      ...outboxEntry,
      detailType: z.literal('Container Restart Requested'),
      detail: z.object({ ...terms.restartRequested, terminationGracePeriodSeconds: count }),
    }),
    'Container Recovered': z.object({
      ...outboxEntry,
      detailType: z.literal('Container Recovered'),
      detail: z.object({ ...terms.recovered, failedSinceMs: instantMs }),
    }),
    Unreadable: z.object({ ...outboxEntry, detailType: z.literal('Unreadable'), storedType: text }),
  },
  unreadable,
);

export const statusSchema: ObjectSchema<StatusRecord> = z.object({
  uid: text,
  version: count,
  observedResourceVersion: count,
  observedReportVersion: count,
  status: podStatus,
  restartRequests: z.record(z.string(), restartRequest),
  acked: z.record(z.string(), count),
  outbox: z.array(outboxEvent),
});

export const hangSchema: ObjectSchema<HangRecord> = z.object({
  uid: text,
  version: count,
  generation: count,
  hungAtMs: instantMs,
  hangs: z.record(z.string(), count),
});

const attempt: ObjectSchema<EventRecord['attempts'][number]> = z.object({
  timeMs: instantMs,
  ...exact(terms.attempt),
  failureClass: failureClass.exactOptional(),
  timings: z.object(exact(terms.timings)),
});

export const eventSchema: ObjectSchema<EventRecord> = z.object({
  id: text,
  uid: text,
  timeMs: instantMs,
  ...exact(terms.historyEntry),
  count: atLeastOne,
  attempts: z.array(attempt),
});
