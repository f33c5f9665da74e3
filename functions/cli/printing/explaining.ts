/** The fields of a target and their meanings as `kubectl explain` prints them, from the schemas of the API. */
import * as z from 'zod';
import { manifestSchema } from '../../../shared/api/schema/manifest-schema.ts';
import { targetViewSchema } from '../../../shared/api/schema/target-schema.ts';
import { nearest } from '../../../shared/lib/nearest.ts';
import { WrongUse } from '../words/exit-codes.ts';

/** The part of a JSON Schema that fields need. */
export type FieldSchema = {
  readonly type?: string | undefined;
  readonly enum?: readonly unknown[] | undefined;
  readonly properties?: { readonly [name: string]: FieldSchema } | undefined;
  readonly required?: readonly string[] | undefined;
  readonly items?: FieldSchema | undefined;
  readonly anyOf?: readonly FieldSchema[] | undefined;
  readonly additionalProperties?: unknown;
};

/** A target: the spec as clients write it, metadata and status as the API shows them. */
export function targetFields(): FieldSchema {
  const written = z.toJSONSchema(manifestSchema, { io: 'input' }) as FieldSchema;
  const shown = z.toJSONSchema(targetViewSchema) as FieldSchema;
  const status = { ...written.properties?.status?.properties, ...shown.properties?.status?.properties };
  return {
    type: 'object',
    properties: {
      ...written.properties,
      metadata: { type: 'object', properties: shown.properties?.metadata?.properties },
      status: { type: 'object', properties: status },
    },
    required: ['spec'],
  };
}

const kinds = ['target', 'targets', 't'];

/** `path`: `target.spec.host`. @throws WrongUse for a field that there is not */
export function explained(path: string, isRecursive: boolean): string {
  const [kind = '', ...names] = path.split('.');
  if (!kinds.includes(kind)) throw new WrongUse(`${kind} must be target, as in target.spec.host`);
  let schema = targetFields();
  let parent: FieldSchema = {};
  for (const [index, name] of names.entries()) {
    const fields = fieldsOf(schema);
    const next = Object.hasOwn(fields, name) ? fields[name] : undefined;
    if (!next) throw noField(['target', ...names.slice(0, index)].join('.'), name, Object.keys(fields));
    [parent, schema] = [membersOf(schema), next];
  }
  const last = names.at(-1);
  const field = last === undefined ? '' : `\nFIELD: ${last} ${typeText(schema, isRequired(parent, last))}\n`;
  const fields = fieldLines(schema, names, isRecursive);
  const list = fields.length === 0 ? '' : `\nFIELDS:\n${fields.join('\n').trimEnd()}\n`;
  const meaning = meaningOf(names);
  return `KIND:     Target\nVERSION:  probelet.dev/v1\n${field}\nDESCRIPTION:\n    ${meaning}\n${enumText(schema)}${list}`;
}

function noField(parent: string, name: string, known: readonly string[]): WrongUse {
  const meant = nearest(name, known);
  const hint = meant === undefined ? `it has ${known.join(', ') || 'no fields'}` : `did you mean ${meant}?`;
  return new WrongUse(`${parent} has no field ${name}: ${hint}`);
}

/** The fields of an object, or of the elements of a list. */
export const fieldsOf = (schema: FieldSchema): NonNullable<FieldSchema['properties']> =>
  membersOf(schema).properties ?? {};

const membersOf = (schema: FieldSchema): FieldSchema => schema.items ?? schema;

const isRequired = ({ required = [] }: FieldSchema, name: string): boolean => required.includes(name);

function typeText(schema: FieldSchema, isNeeded: boolean): string {
  return `<${typeName(schema)}>${isNeeded ? ' -required-' : ''}`;
}

function typeName({ type, items, properties, anyOf, additionalProperties }: FieldSchema): string {
  if (items) return `[]${typeName(items)}`;
  if (anyOf) return anyOf.map(typeName).join(' or ');
  return type === 'object' && !properties && additionalProperties ? 'map[string]string' : (type ?? 'object');
}

const enumText = (schema: FieldSchema): string => {
  const values = (membersOf(schema).enum ?? []).filter((value) => value !== '');
  return values.length === 0 ? '' : `    One of ${values.join(', ')}.\n`;
};

function fieldLines(schema: FieldSchema, path: readonly string[], isRecursive: boolean, depth = 1): readonly string[] {
  const margin = '  '.repeat(depth);
  const parent = membersOf(schema);
  return Object.entries(fieldsOf(schema)).flatMap(([name, field]) => {
    const line = `${margin}${name} ${typeText(field, isRequired(parent, name))}`;
    const own = [...path, name];
    if (isRecursive) return [line, ...fieldLines(field, own, isRecursive, depth + 1)];
    return [line, `${margin}  ${meaningOf(own)}`, ''];
  });
}

const probeFields = ['startupProbe', 'readinessProbe', 'livenessProbe'];
const containerFields = ['containers', 'initContainers'];
const statusFields = ['containerStatuses', 'initContainerStatuses'];

/** The key of `fieldMeanings` for a path. */
export function meaningKey(path: readonly string[]): string {
  if (path.length === 0) return 'target';
  const below = (names: readonly string[]) => path.slice(0, -1).findLastIndex((name) => names.includes(name));
  const probe = below(probeFields);
  if (probe >= 0) return ['probe', ...path.slice(probe + 1)].join('.');
  const state = path[0] === 'status' ? below(['state', 'lastState']) : -1;
  if (state >= 0) return ['state', ...path.slice(state + 1)].join('.');
  const status = below(statusFields);
  if (status >= 0) return ['containerStatus', ...path.slice(status + 1)].join('.');
  const container = below(containerFields);
  // The spec of a target with one container may have its probes.
  if (path.length === 2 && probeFields.includes(path[1] ?? '')) return `container.${path[1]}`;
  return container >= 0 ? ['container', ...path.slice(container + 1)].join('.') : path.join('.');
}

const meaningOf = (path: readonly string[]): string => fieldMeanings[meaningKey(path)] ?? '';

const ports = 'A port number, or the name of a container port.';
const host = "The address to probe, in place of the target's.";

/**
 * Meanings of fields, by path. The fields of a container are below `container`, those of its three probes below
 * `probe`, and those of its two states below `state`.
 */
export const fieldMeanings: { readonly [path: string]: string } = {
  target: 'Something with an address that is probed as kubelet probes a Pod.',
  apiVersion: 'probelet.dev/v1.',
  kind: 'Target. A Pod is accepted as it is.',
  metadata: 'The name of the target, and what clients attach to it.',
  'metadata.namespace': 'Part of the name. Default: default.',
  'metadata.name': 'Unique in its namespace: lower-case letters, digits and hyphens.',
  'metadata.uid': 'Distinguishes the target from earlier ones of the same name.',
  'metadata.labels': 'Keys and values to select by.',
  'metadata.annotations': 'Keys and values that nothing selects by; those of probelet.dev say how a Pod is probed.',
  'metadata.generation': 'Grows by one with each change of the spec.',
  'metadata.resourceVersion': 'Changes with each change of spec or metadata; the ETag.',
  'metadata.creationTimestamp': 'When the target was registered.',
  'metadata.deletionTimestamp': 'When the grace period ends. Set: the target terminates.',
  'metadata.deletionGracePeriodSeconds': 'The grace period of the deletion.',
  spec: 'What is probed, and how.',
  'spec.host': 'The address of every probe that names none: an IP address or a DNS name.',
  'spec.restartPolicy': 'Which containers are restarted when they end. Default: Always.',
  'spec.lifecycle':
    'Who knows the state of the containers: probelet, for which they run from registration on (static, the default), or a reporter (reported).',
  'spec.terminationGracePeriodSeconds': 'How long the target terminates after its deletion. Default: 30.',
  'spec.readinessGates': 'Conditions that have to be True, too, before the target is ready.',
  'spec.readinessGates.conditionType': 'The type of a condition that a reporter sets.',
  'spec.initContainers': 'Containers that end before the others start; with restartPolicy Always: sidecars.',
  'spec.containers': 'The containers. A target with one may have its probes in the spec itself.',
  'container.name': 'Unique in the target.',
  'container.ports': 'Ports that have names, for probes that name them.',
  'container.ports.name': 'What a probe may give as its port.',
  'container.ports.containerPort': 'The number of the port.',
  'container.env': 'Variables for $(NAME) in the command of an exec probe.',
  'container.env.name': 'The name of the variable.',
  'container.env.value': 'Its value. Default: empty.',
  'container.restartPolicy': 'Always makes an init container a sidecar.',
  'container.restartPolicyRules': 'By exit codes, what precedes the restart policy.',
  'container.restartPolicyRules.action': 'What is restarted.',
  'container.restartPolicyRules.exitCodes': 'Which exit codes the rule is for.',
  'container.restartPolicyRules.exitCodes.operator': 'Whether the code is one of the values, or none of them.',
  'container.restartPolicyRules.exitCodes.values': 'Exit codes.',
  'container.startupProbe': 'Until it succeeds the other probes wait. Its failure requests a restart.',
  'container.readinessProbe': 'Whether the container is ready.',
  'container.livenessProbe': 'Its failure requests a restart of the container.',
  'probe.exec': 'Runs a command; exit code 0 is a success.',
  'probe.exec.command': 'The program and its arguments. No shell is between them.',
  'probe.httpGet': 'Sends a GET request; a status from 200 to 399 is a success.',
  'probe.httpGet.path': 'The path of the URL, with its query. Default: /.',
  'probe.httpGet.port': ports,
  'probe.httpGet.host': host,
  'probe.httpGet.scheme': 'HTTP or HTTPS, whose certificate is not verified. Default: HTTP.',
  'probe.httpGet.httpHeaders': 'Headers of the request; a name may be repeated.',
  'probe.httpGet.httpHeaders.name': 'The name of the header.',
  'probe.httpGet.httpHeaders.value': 'Its value; env:NAME stands for a secret. Default: empty.',
  'probe.tcpSocket': 'Opens a connection; success if it opens.',
  'probe.tcpSocket.port': ports,
  'probe.tcpSocket.host': host,
  'probe.grpc': 'Calls grpc.health.v1.Health/Check; SERVING is a success.',
  'probe.grpc.port': 'A port number.',
  'probe.grpc.service': 'The service to ask for. Default: empty, the server as a whole.',
  'probe.initialDelaySeconds': 'How long after the start of the container the first probe waits. Default: 0.',
  'probe.periodSeconds': 'How often the probe is made. Default: 10.',
  'probe.timeoutSeconds': 'How long one probe may take. Default: 1.',
  'probe.successThreshold': 'Successes in a row that end a failure. Default: 1, and 1 for liveness and startup.',
  'probe.failureThreshold': 'Failures in a row that make a failure. Default: 3.',
  'probe.terminationGracePeriodSeconds': 'The grace period of the restart that a liveness or startup failure requests.',
  status: 'What was seen. It is read only, apart from reports.',
  'status.podIP': 'Of a Pod: the host, if the spec names none.',
  'status.resourceVersion': 'Changes with each change of the status.',
  'status.observedGeneration': 'The generation that the status reflects. Absent: an older one.',
  'status.phase': 'As of a Pod.',
  'status.reason': 'The reason for the phase, in one word.',
  'status.message': 'The reason as a sentence.',
  'status.startTime': 'When the target started.',
  'status.conditions': 'Initialized, ContainersReady, Ready, and those of reporters.',
  'status.conditions.type': 'The name of the condition.',
  'status.conditions.status': 'Unknown: it depends on probes whose result is unknown.',
  'status.conditions.reason': 'The reason for the status, in one word.',
  'status.conditions.message': 'The reason as a sentence.',
  'status.conditions.lastTransitionTime': 'When its status changed last.',
  'status.conditions.observedGeneration': 'The generation that the condition is about.',
  'status.initContainerStatuses': 'A status for each init container.',
  'status.containerStatuses': 'A status for each container.',
  'containerStatus.name': 'The name of the container.',
  'containerStatus.containerID': 'Changes with each restart.',
  'containerStatus.state': 'What the container does now.',
  'containerStatus.lastState': 'How its run before ended.',
  'containerStatus.ready': 'Whether its readiness probe succeeds.',
  'containerStatus.started': 'Whether its startup probe has succeeded.',
  'containerStatus.restartCount': 'How often it was restarted.',
  'containerStatus.restartRequest': 'An open request to restart it: neither a restart nor a success was seen since.',
  'containerStatus.restartRequest.probeType': 'The probe that failed.',
  'containerStatus.restartRequest.requestedAt': 'When the container began to fail.',
  'containerStatus.restartRequest.attempts': 'How often the restart was requested since.',
  'containerStatus.restartRequest.nextAttemptAt': 'When it is requested again if the container still fails.',
  'state.running': 'It runs.',
  'state.running.startedAt': 'Since when.',
  'state.waiting': 'It does not run yet.',
  'state.waiting.reason': 'Why, in one word.',
  'state.waiting.message': 'The reason as a sentence.',
  'state.terminated': 'It has ended.',
  'state.terminated.exitCode': 'Its exit code.',
  'state.terminated.reason': 'Why, in one word.',
  'state.terminated.message': 'The reason as a sentence.',
  'state.terminated.startedAt': 'When the run began.',
  'state.terminated.finishedAt': 'When it ended.',
  'status.probes': 'The result of each probe.',
  'status.probes.container': 'The container of the probe.',
  'status.probes.probeType': 'liveness, readiness or startup.',
  'status.probes.result': 'By the thresholds, not of the last probe alone.',
  'status.probes.reason': 'Why the result is unknown.',
  'status.probes.message': 'Why the probe cannot be made.',
  'status.probes.since': 'When the result began.',
  'status.probes.lastProbeTime': 'When the probe was last made, to within a period. Absent: never.',
  'status.probes.lastChangeTime': 'When the last probe that changed anything was made.',
  'status.probes.failureClass': 'The kind of failure.',
  'status.probes.output': 'What the probe that gave the result said.',
  'status.probes.onHold': 'Whether the probe waits for a restart of its container.',
  'status.probes.version': 'Grows by one with each change of the result.',
};
