/** A target as the API shows it: pod-shaped, times in RFC 3339. */
import '../http/zod-openapi.ts';
import * as z from 'zod';
import type { UnknownReason } from '../../core/status/shown.ts';
import * as terms from '../../schema/terms.ts';
import { handlerViews } from './handler-schemas.ts';

const { phase, probeType, restartPolicy, result } = terms;
const instant = z.string().openapi({ format: 'date-time' });

const probe = z
  .object({
    ...handlerViews,
    initialDelaySeconds: z.int(),
    periodSeconds: z.int(),
    timeoutSeconds: z.int(),
    successThreshold: z.int(),
    failureThreshold: z.int(),
    terminationGracePeriodSeconds: z.int().optional(),
  })
  .openapi('StoredProbe');

const container = z
  .object({
    name: z.string(),
    ports: z.array(z.object({ name: z.string().optional(), containerPort: z.int() })).optional(),
    env: z.array(z.object({ name: z.string(), value: z.string() })).optional(),
    restartPolicy: restartPolicy.optional(),
    restartPolicyRules: z
      .array(
        z.object({
          action: terms.restartAction,
          exitCodes: z.object({ operator: terms.exitCodeOperator, values: z.array(z.int()) }),
        }),
      )
      .optional(),
    startupProbe: probe.optional(),
    readinessProbe: probe.optional(),
    livenessProbe: probe.optional(),
  })
  .openapi('StoredContainer');

const specView = z
  .object({
    host: z.string(),
    restartPolicy,
    lifecycle: terms.lifecycle,
    terminationGracePeriodSeconds: z.int(),
    readinessGates: z.array(z.object({ conditionType: z.string() })),
    initContainers: z.array(container),
    containers: z.array(container),
  })
  .openapi('StoredTargetSpec');

const containerState = z
  .object({
    running: z.object({ startedAt: instant }).optional(),
    waiting: z.object({ reason: z.string().optional(), message: z.string().optional() }).optional(),
    terminated: z
      .object({
        exitCode: z.int(),
        reason: z.string().optional(),
        message: z.string().optional(),
        startedAt: instant.optional(),
        finishedAt: instant.optional(),
      })
      .optional(),
  })
  .openapi('ContainerState');

const restartRequest = z
  .object({
    probeType: z.enum(['liveness', 'startup']).openapi({ description: 'The probe that failed.' }),
    requestedAt: instant.openapi({ description: 'When the container began to fail.' }),
    attempts: z.int().openapi({ description: 'How often the restart has been requested since.' }),
    nextAttemptAt: instant.openapi({ description: 'When it is requested again if the container still fails.' }),
  })
  .openapi('RestartRequest', { description: 'An open request: no restart and no success has been seen since.' });

const containerStatus = z
  .object({
    name: z.string(),
    containerID: z.string().optional(),
    state: containerState,
    lastState: containerState,
    ready: z.boolean(),
    started: z.boolean().optional(),
    restartCount: z.int(),
    restartRequest: restartRequest.optional(),
  })
  .openapi('ContainerStatus');

const condition = z
  .object({
    ...terms.condition,
    lastTransitionTime: instant.optional(),
    observedGeneration: z.int().optional(),
  })
  .openapi('Condition');

const unknownReasons = [
  'NotYetProbed',
  'PolicyDenied',
  'ProberError',
  'Late',
  'ProberDegraded',
  'Quarantined',
  'Ended',
] as const satisfies readonly (UnknownReason | 'Ended')[];

const probeStatus = z
  .object({
    container: z.string(),
    probeType,
    result,
    reason: z.enum(unknownReasons).optional().openapi({ description: 'Why the result is unknown.' }),
    message: z.string().optional().openapi({ description: 'Why the probe cannot be made.' }),
    since: instant.openapi({ description: 'When the shown result began.' }),
    lastProbeTime: instant.optional().openapi({
      description: 'When the probe was last done, to within a period. Absent: never.',
    }),
    lastChangeTime: instant.optional().openapi({ description: 'When the last probe that changed anything was done.' }),
    failureClass: z.string().optional(),
    output: z.string().optional(),
    onHold: z.boolean(),
    version: z.int(),
  })
  .openapi('ProbeStatus');

const statusView = z
  .object({
    resourceVersion: z.string(),
    observedGeneration: z.int().optional(),
    phase,
    reason: z.string().optional(),
    message: z.string().optional(),
    startTime: instant.optional(),
    conditions: z.array(condition),
    initContainerStatuses: z.array(containerStatus),
    containerStatuses: z.array(containerStatus),
    probes: z.array(probeStatus),
  })
  .openapi('TargetStatus');

export const targetViewSchema = z
  .object({
    apiVersion: z.literal('probelet.dev/v1'),
    kind: z.literal('Target'),
    metadata: z.object({
      namespace: z.string(),
      name: z.string(),
      uid: z.string(),
      labels: z.record(z.string(), z.string()),
      annotations: z.record(z.string(), z.string()),
      generation: z.int(),
      resourceVersion: z.string(),
      creationTimestamp: instant,
      deletionTimestamp: instant.optional(),
      deletionGracePeriodSeconds: z.int().optional(),
    }),
    spec: specView,
    status: statusView,
  })
  .openapi('Target');

export type TargetView = z.infer<typeof targetViewSchema>;
export type StatusView = z.infer<typeof statusView>;
export type ContainerStatusView = z.infer<typeof containerStatus>;
export type ContainerStateView = z.infer<typeof containerState>;
export type ProbeStatusView = z.infer<typeof probeStatus>;
export type ContainerView = z.infer<typeof container>;
