/** The schema of a stored spec, checked at every read. */
import * as z from 'zod';
import type { ContainerSpec, Probe, TargetSpec } from '../core/spec.ts';

export const count = z.int().min(0);
export const atLeastOne = z.int().min(1);
const portNumber = z.int().min(1).max(65_535);
const portRef = z.union([portNumber, z.string()]);
const restartPolicy = z.enum(['Always', 'OnFailure', 'Never']);

const httpGet = z.object({
  path: z.string(),
  port: portRef,
  host: z.string().exactOptional(),
  scheme: z.enum(['HTTP', 'HTTPS']),
  httpHeaders: z.array(z.object({ name: z.string(), value: z.string() })).exactOptional(),
});

/** A period or threshold of 0 would make the loop spin and affect the whole shard, so such an item is poison. */
const probe: z.ZodType<Probe> = z.object({
  exec: z.object({ command: z.array(z.string()) }).exactOptional(),
  httpGet: httpGet.exactOptional(),
  tcpSocket: z.object({ host: z.string().exactOptional(), port: portRef }).exactOptional(),
  grpc: z.object({ port: portNumber, service: z.string().exactOptional() }).exactOptional(),
  initialDelaySeconds: count,
  periodSeconds: atLeastOne,
  timeoutSeconds: atLeastOne,
  successThreshold: atLeastOne,
  failureThreshold: atLeastOne,
  terminationGracePeriodSeconds: count.exactOptional(),
});

const restartPolicyRule = z.object({
  action: z.enum(['Restart', 'RestartAllContainers']),
  operator: z.enum(['In', 'NotIn']),
  values: z.array(z.int()),
});

const containerSpec: z.ZodType<ContainerSpec> = z.object({
  name: z.string(),
  ports: z.array(z.object({ name: z.string().exactOptional(), containerPort: portNumber })).exactOptional(),
  env: z.array(z.object({ name: z.string(), value: z.string() })).exactOptional(),
  restartPolicy: restartPolicy.exactOptional(),
  restartPolicyRules: z.array(restartPolicyRule).exactOptional(),
  startupProbe: probe.exactOptional(),
  readinessProbe: probe.exactOptional(),
  livenessProbe: probe.exactOptional(),
});

export const targetSpec: z.ZodType<TargetSpec> = z.object({
  host: z.string(),
  restartPolicy,
  lifecycle: z.enum(['static', 'reported']),
  terminationGracePeriodSeconds: count,
  readinessGates: z.array(z.object({ conditionType: z.string() })),
  initContainers: z.array(containerSpec),
  containers: z.array(containerSpec),
});
