/** The rules of one probe and its handler: Kubernetes' (pkg/apis/core/validation) and the product's own limits. */
import { at, atMost, type FieldProblem, inRange, type Range, unless } from './field-problem.ts';
import { hasUserinfo } from './go-url.ts';
import {
  commandWordsMax,
  gracePeriodSecondsMax,
  headerBytesMax,
  headersMax,
  hostLengthMax,
  initialDelaySecondsMax,
  pathLengthMax,
  periodSecondsMax,
  portMax,
  portMin,
  serviceLengthMax,
  thresholdMax,
  timeoutSecondsMax,
} from './limits.ts';
import { isHeaderName, isPortName } from './names.ts';
import { secretReference } from './secret-reference.ts';
import type { PortRef } from './spec.ts';
import type { HttpGetInput, ProbeInput } from './spec-input.ts';
import type { ProbeType } from './types.ts';

type Problems = readonly FieldProblem[];

/** Where a probe stands, and its type. */
export type ProbePlace = { readonly probeType: ProbeType; readonly pointer: string };

export function probeProblems(probe: ProbeInput, place: ProbePlace): Problems {
  const { pointer } = place;
  const number = (field: keyof typeof ranges) => inRange(probe[field], ranges[field], at(pointer, field));
  return [
    ...handlerProblems(probe, place),
    ...number('initialDelaySeconds'),
    ...number('periodSeconds'),
    ...number('timeoutSeconds'),
    ...number('failureThreshold'),
    ...successThresholdProblems(probe.successThreshold, place),
    ...gracePeriodProblems(probe.terminationGracePeriodSeconds, place),
  ];
}

/** To Kubernetes 0 is absent wherever there is a default: Go clients and charts write it. */
const ranges = {
  initialDelaySeconds: { min: 0, max: initialDelaySecondsMax },
  periodSeconds: { min: 0, max: periodSecondsMax },
  timeoutSeconds: { min: 0, max: timeoutSecondsMax },
  failureThreshold: { min: 0, max: thresholdMax },
  successThreshold: { min: 0, max: thresholdMax },
  terminationGracePeriodSeconds: { min: 1, max: gracePeriodSecondsMax },
} as const satisfies { readonly [field in keyof ProbeInput]: Range };

function successThresholdProblems(value: number | undefined, { probeType, pointer }: ProbePlace): Problems {
  const field = at(pointer, 'successThreshold');
  if (probeType === 'readiness') return inRange(value, ranges.successThreshold, field);
  return unless(!value || value === 1, field, 'must be 1 for liveness and startup probes');
}

function gracePeriodProblems(value: number | undefined, { probeType, pointer }: ProbePlace): Problems {
  const field = at(pointer, 'terminationGracePeriodSeconds');
  if (probeType === 'readiness') return unless(value === undefined, field, 'must not be set for readiness probes');
  return inRange(value, ranges.terminationGracePeriodSeconds, field);
}

const handlers = ['exec', 'httpGet', 'tcpSocket', 'grpc'] as const;

function handlerProblems(probe: ProbeInput, place: ProbePlace): Problems {
  const { pointer } = place;
  const [first, ...others] = handlers.filter((handler) => probe[handler] !== undefined);
  if (first === undefined) return [{ pointer, detail: 'must have one handler: exec, httpGet, tcpSocket or grpc' }];
  return [
    ...others.map((other) => ({ pointer: at(pointer, other), detail: `must not be set beside ${first}` })),
    ...(probe.exec ? execProblems(probe.exec.command, at(pointer, 'exec')) : []),
    ...(probe.httpGet ? httpGetProblems(probe.httpGet, at(pointer, 'httpGet')) : []),
    ...(probe.tcpSocket ? addressProblems(probe.tcpSocket, at(pointer, 'tcpSocket')) : []),
    ...(probe.grpc ? grpcProblems(probe.grpc, at(pointer, 'grpc')) : []),
  ];
}

function execProblems(command: readonly string[], pointer: string): Problems {
  const field = at(pointer, 'command');
  return [
    ...unless(command.length > 0, field, 'must name a command'),
    ...atMost(command.length, commandWordsMax, field),
    ...command.flatMap((word, index) => unless(!parameterReference.test(word), at(field, index), noReference)),
  ];
}

/** Run Command would replace it by the parameter, which the prober's role may read and the caller may not. */
const parameterReference = /\{\{\s*ssm(?:-secure)?:/i;
const noReference = 'must not refer to Parameter Store: {{ssm:…}} is not resolved';

function grpcProblems({ port, service = '' }: NonNullable<ProbeInput['grpc']>, pointer: string): Problems {
  const valid = service.length <= serviceLengthMax;
  return [
    ...inRange(port, { min: portMin, max: portMax }, at(pointer, 'port')),
    ...unless(valid, at(pointer, 'service'), `must be at most ${serviceLengthMax} characters`),
  ];
}

function httpGetProblems(action: HttpGetInput, pointer: string): Problems {
  return [
    ...addressProblems(action, pointer),
    ...pathProblems(action.path ?? '', at(pointer, 'path')),
    ...headersProblems(action.httpHeaders ?? [], at(pointer, 'httpHeaders')),
  ];
}

/**
 * The port of an HTTP or TCP handler and its own host, if it has one. As in Kubernetes the host may be any text, and the port the name of
 * none of the container's: the probe finds out.
 */
function addressProblems(
  { host = '', port }: { readonly host?: string | undefined; readonly port: PortRef },
  pointer: string,
): Problems {
  const name = host.endsWith('.') ? host.slice(0, -1) : host;
  return [
    ...unless(name.length <= hostLengthMax, at(pointer, 'host'), `must be at most ${hostLengthMax} characters`),
    ...portProblems(port, at(pointer, 'port')),
  ];
}

function portProblems(port: PortRef, pointer: string): Problems {
  if (typeof port === 'number') return inRange(port, { min: portMin, max: portMax }, pointer);
  return unless(isPortName(port), pointer, 'must be a number or the name of a port');
}

function pathProblems(path: string, pointer: string): Problems {
  return [
    ...unless(path.length <= pathLengthMax, pointer, `must be at most ${pathLengthMax} characters`),
    ...unless(!/[\r\n]/.test(path), pointer, 'must not contain CR or LF'),
    ...unless(!hasUserinfo(path), pointer, 'must not contain user info'),
  ];
}

type HeaderInput = NonNullable<HttpGetInput['httpHeaders']>[number];

function headersProblems(headers: readonly HeaderInput[], pointer: string): Problems {
  return [
    ...atMost(headers.length, headersMax, pointer),
    ...headers.slice(0, headersMax).flatMap((header, index) => headerProblems(header, at(pointer, index))),
  ];
}

/** Belong to the connection, not to the request: the prober's transport sets them. */
const hopByHop: ReadonlySet<string> = new Set([
  ...['connection', 'keep-alive', 'te', 'trailer', 'transfer-encoding', 'upgrade', 'content-length'],
]);

const isHopByHop = (name: string): boolean => hopByHop.has(name) || name.startsWith('proxy-');

/** Carry secrets, which are not stored. */
const secretNames = /^(authorization|cookie|x-api-key)$/;

function headerProblems({ name, value = '' }: HeaderInput, pointer: string): Problems {
  const lower = name.toLowerCase();
  const bytes = new TextEncoder().encode(name + value).length;
  const isSecret = secretNames.test(lower) && value !== '' && !secretReference(value);
  return [
    ...unless(isHeaderName(name), at(pointer, 'name'), 'must be letters, digits and -'),
    ...unless(!isHopByHop(lower), at(pointer, 'name'), 'must not be a header of the connection'),
    ...unless(bytes <= headerBytesMax, pointer, `must be at most ${headerBytesMax} bytes, name and value together`),
    ...unless(!isSecret, at(pointer, 'value'), 'must be a reference: env:NAME, ssm:… or secretsmanager:…'),
  ];
}
