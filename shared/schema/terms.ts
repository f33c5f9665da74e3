/**
 * The schemas of core's terms that are stored, published and shown alike: each is described here once. They are as open
 * as what others read has to be. The store narrows what it knows better, such as the failure classes of this release,
 * and writes instants as numbers.
 */
import * as z from 'zod';
import type { EventRecord, OutboxEvent, ProbeUnknown, ShownStatus } from '../core/spec/records.ts';
import type { TargetSpec } from '../core/spec/spec.ts';
import type {
  Attempt,
  Condition,
  ConditionStatus,
  Phase,
  PhaseTimings,
  ProbeOutcome,
  ProbeType,
  RestartPolicy,
  RestartPolicyRule,
  Result,
} from '../core/spec/types.ts';
import type { NamesSchema } from './schema-of.ts';

export const probeType = z.enum(['liveness', 'readiness', 'startup']) satisfies NamesSchema<ProbeType>;
export const result = z.enum(['success', 'failure', 'unknown']) satisfies NamesSchema<Result>;
export const phase = z.enum(['Pending', 'Running', 'Succeeded', 'Failed', 'Unknown']) satisfies NamesSchema<Phase>;
export const conditionStatus = z.enum(['True', 'False', 'Unknown']) satisfies NamesSchema<ConditionStatus>;
export const restartPolicy = z.enum(['Always', 'OnFailure', 'Never']) satisfies NamesSchema<RestartPolicy>;
export const restartAction = z.enum(['Restart', 'RestartAllContainers']) satisfies NamesSchema<
  RestartPolicyRule['action']
>;
export const exitCodeOperator = z.enum(['In', 'NotIn']) satisfies NamesSchema<RestartPolicyRule['operator']>;
/** Why a probe cannot be made. */
export const unknownReason = z.enum(['PolicyDenied', 'ProberError']) satisfies NamesSchema<ProbeUnknown['reason']>;
export const lifecycle = z.enum(['static', 'reported']) satisfies NamesSchema<TargetSpec['lifecycle']>;
const outcome = z.enum(['success', 'warning', 'failure', 'unknown']) satisfies NamesSchema<ProbeOutcome>;

/** Names each attribute of a term of core; the compiler asks for one that was added there. */
type Described<Term> = { readonly [Name in keyof Term]-?: z.ZodType };

export const timings = {
  dnsMs: z.number().optional(),
  connectMs: z.number().optional(),
  tlsMs: z.number().optional(),
  firstByteMs: z.number().optional(),
  totalMs: z.number(),
} satisfies Described<PhaseTimings>;

/** An attempt of a probe, beside its time. */
export const attempt = {
  outcome,
  output: z.string(),
  error: z.string().optional(),
  failureClass: z.string().optional(),
  timings: z.object(timings),
} satisfies Described<Attempt>;

/** An entry of the event history, beside its id, its time and its attempts. */
export const historyEntry = {
  kind: z.enum(['transition', 'recorded']) satisfies NamesSchema<EventRecord['kind']>,
  type: z.enum(['Normal', 'Warning']) satisfies NamesSchema<EventRecord['type']>,
  reason: z.string(),
  message: z.string(),
  container: z.string().optional(),
  probeType: probeType.optional(),
  containerID: z.string().optional(),
  result: result.optional(),
  previousResult: result.optional(),
  initial: z.boolean().optional(),
  count: z.int(),
} satisfies Described<Omit<EventRecord, 'id' | 'uid' | 'timeMs' | 'attempts'>>;

/** A condition, beside the time of its last transition and the observed generation. */
export const condition = {
  type: z.string(),
  status: conditionStatus,
  reason: z.string().optional(),
  message: z.string().optional(),
} satisfies Described<Omit<Condition, 'lastTransitionTimeMs' | 'observedGeneration'>>;

/** A container in the status that subscribers see. */
export const shownContainer = {
  name: z.string(),
  containerID: z.string(),
  ready: z.boolean(),
  started: z.boolean(),
  restartCount: z.int(),
} satisfies Described<ShownStatus['containers'][number]>;

/** The part of a status that subscribers see. */
export const shownStatus = {
  phase: z.string(),
  conditions: z.array(z.object(condition)),
  containers: z.array(z.object(shownContainer)),
} satisfies Described<ShownStatus>;

type DetailOf<Type extends OutboxEvent['detailType']> = Extract<
  OutboxEvent,
  { readonly detailType: Type; readonly detail: unknown }
>['detail'];

const ofProbe = { container: z.string(), containerID: z.string(), probeType, message: z.string() };

export const restartRequested = {
  ...ofProbe,
  /**
   * 1 for the first request after the container failed. Increases each time the request is repeated because the
   * container still fails.
   */
  attempt: z.int().min(1),
  restartPolicy,
  terminationGracePeriodSeconds: z.int(),
} satisfies Described<DetailOf<'Container Restart Requested'>>;

/** A container that succeeded again, beside the time of its first failure. */
export const recovered = {
  ...ofProbe,
  /** How many restarts were requested since the container failed. */
  attempts: z.int().min(0),
} satisfies Described<Omit<DetailOf<'Container Recovered'>, 'failedSinceMs'>>;
