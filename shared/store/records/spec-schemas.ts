/** The schema of a stored spec, checked at every read. */
import * as z from 'zod';
import { type Field, isRequired, mapShape } from '../../core/spec/handler-fields.ts';
import { type HandlerKind, type Handlers, mapHandlers } from '../../core/spec/handlers.ts';
import type { ContainerSpec, Probe, TargetSpec } from '../../core/spec/spec.ts';
import { type Attributes, atLeastOne, count, restartPolicy } from './value-schemas.ts';

const portNumber = z.int().min(1).max(65_535);

const fields: { readonly [Kind in Exclude<Field['kind'], 'choice'>]: z.ZodType } = {
  text: z.string(),
  texts: z.array(z.string()),
  port: portNumber,
  portRef: z.union([portNumber, z.string()]),
  headers: z.array(z.object({ name: z.string(), value: z.string() })),
};

/** One that has a default gets it where an item lacks it: the release that wrote the item did not know the field. */
function fieldOf(field: Field): z.ZodType {
  const schema = field.kind === 'choice' ? z.enum(field.of) : fields[field.kind];
  if ('default' in field) return schema.default(field.default);
  return isRequired(field) ? schema : schema.exactOptional();
}

const handlers = mapHandlers((shape) => z.object(mapShape(shape, fieldOf)).exactOptional()) as unknown as {
  readonly [Kind in HandlerKind]: z.ZodExactOptional<z.ZodType<NonNullable<Handlers[Kind]>>>;
};

/** A period or threshold of 0 would make the loop spin and affect the whole shard, so such an item is poison. */
const probe: z.ZodType<Probe> = z.object({
  ...handlers,
  initialDelaySeconds: count,
  periodSeconds: atLeastOne,
  timeoutSeconds: atLeastOne,
  successThreshold: atLeastOne,
  failureThreshold: atLeastOne,
  terminationGracePeriodSeconds: count.exactOptional(),
} satisfies Attributes<Probe>);

const restartPolicyRule = z.object({
  action: z.enum(['Restart', 'RestartAllContainers']),
  operator: z.enum(['In', 'NotIn']),
  values: z.array(z.int()),
} satisfies Attributes<NonNullable<ContainerSpec['restartPolicyRules']>[number]>);

const containerSpec: z.ZodType<ContainerSpec> = z.object({
  name: z.string(),
  ports: z.array(z.object({ name: z.string().exactOptional(), containerPort: portNumber })).exactOptional(),
  env: z.array(z.object({ name: z.string(), value: z.string() })).exactOptional(),
  restartPolicy: restartPolicy.exactOptional(),
  restartPolicyRules: z.array(restartPolicyRule).exactOptional(),
  startupProbe: probe.exactOptional(),
  readinessProbe: probe.exactOptional(),
  livenessProbe: probe.exactOptional(),
} satisfies Attributes<ContainerSpec>);

export const targetSpec: z.ZodType<TargetSpec> = z.object({
  host: z.string(),
  restartPolicy,
  lifecycle: z.enum(['static', 'reported']),
  terminationGracePeriodSeconds: count,
  readinessGates: z.array(z.object({ conditionType: z.string() })),
  initContainers: z.array(containerSpec),
  containers: z.array(containerSpec),
} satisfies Attributes<TargetSpec>);
