/** The shape of a target as clients write it: types and known fields. The core decides which values are valid. */
import '../http/zod-openapi.ts';
import * as z from 'zod';
import { listed } from '../../core/spec/field-problem.ts';
import { handlerKinds } from '../../core/spec/handlers.ts';
import { exitCodeOperator, lifecycle, restartAction, restartPolicy } from '../../schema/terms.ts';
import { handlerInputs } from './handler-schemas.ts';

const whole = z.int();
const texts = z.record(z.string(), z.string());

const probe = z
  .strictObject({
    ...handlerInputs,
    initialDelaySeconds: whole.optional(),
    periodSeconds: whole.optional(),
    timeoutSeconds: whole.optional(),
    successThreshold: whole.optional(),
    failureThreshold: whole.optional(),
    terminationGracePeriodSeconds: whole.optional(),
  })
  .openapi('Probe', { description: `Exactly one of ${listed(handlerKinds, 'and')}.` });

const probes = {
  startupProbe: probe.optional(),
  readinessProbe: probe.optional(),
  livenessProbe: probe.optional(),
};

const container = z
  .strictObject({
    name: z.string(),
    ports: z.array(z.strictObject({ name: z.string().optional(), containerPort: whole })).optional(),
    env: z.array(z.strictObject({ name: z.string(), value: z.string().optional() })).optional(),
    restartPolicy: restartPolicy.optional(),
    restartPolicyRules: z
      .array(
        z.strictObject({
          action: restartAction,
          exitCodes: z.strictObject({ operator: exitCodeOperator, values: z.array(whole).optional() }),
        }),
      )
      .optional(),
    ...probes,
  })
  .openapi('Container');

const spec = z
  .strictObject({
    host: z.string().optional().openapi({
      description: 'The default address of every probe; else status.podIP, else the annotation probelet.dev/host.',
    }),
    restartPolicy: z
      .enum([...restartPolicy.options, ''])
      .optional()
      .openapi({ description: 'Empty: absent.' }),
    lifecycle: lifecycle.optional().openapi({
      description:
        'Who knows the container state: probelet itself (static, the default), or its reporter. The annotation probelet.dev/lifecycle of a Pod stands for it.',
    }),
    terminationGracePeriodSeconds: whole.optional(),
    readinessGates: z.array(z.strictObject({ conditionType: z.string() })).optional(),
    initContainers: z.array(container).optional(),
    containers: z.array(container).optional(),
    ...probes,
  })
  .openapi('TargetSpec');

const metadata = z
  .strictObject({
    namespace: z.string().optional(),
    name: z.string().optional(),
    labels: texts.optional(),
    annotations: texts.optional(),
  })
  .openapi('TargetMetadata');

/** For a manifest from which `keptOut` has removed what does not concern probing. */
export const manifestSchema = z
  .strictObject({
    apiVersion: z.string().optional(),
    kind: z.string().optional(),
    metadata: metadata.optional(),
    spec,
    status: z.strictObject({ podIP: z.string().optional() }).optional(),
  })
  .openapi('TargetManifest', {
    description: 'A target as one registers it. A Kubernetes Pod manifest is accepted as it is.',
  });

export type Manifest = z.infer<typeof manifestSchema>;
