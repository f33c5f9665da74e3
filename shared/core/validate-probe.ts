/** The rules of one probe and its handler: Kubernetes' (pkg/apis/core/validation) and the product's own limits. */
import { at, atMost, type FieldProblem, inRange, type Range, unless } from './field-problem.ts';
import { pathRefusal } from './go-url.ts';
import {
  commandWordsMax,
  gracePeriodSecondsMax,
  headerBytesMax,
  headersMax,
  initialDelaySecondsMax,
  pathLengthMax,
  periodSecondsMax,
  portMax,
  portMin,
  serviceLengthMax,
  thresholdMax,
  timeoutSecondsMax,
} from './limits.ts';
import { isHeaderName, isHost, isPortName } from './names.ts';
import { secretReference } from './secret-reference.ts';
import type { HttpHeader, PortRef } from './spec.ts';
import type { ContainerInput, HttpGetInput, ProbeInput } from './spec-input.ts';
import type { ProbeType } from './types.ts';

type Problems = readonly FieldProblem[];

/** Where a probe stands: its type, and the ports of its container that a name may mean. */
export type ProbePlace = {
  readonly probeType: ProbeType;
  readonly ports: ContainerInput['ports'];
  readonly pointer: string;
};

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

const ranges = {
  initialDelaySeconds: { min: 0, max: initialDelaySecondsMax },
  periodSeconds: { min: 1, max: periodSecondsMax },
  timeoutSeconds: { min: 1, max: timeoutSecondsMax },
  failureThreshold: { min: 1, max: thresholdMax },
  successThreshold: { min: 1, max: thresholdMax },
  terminationGracePeriodSeconds: { min: 1, max: gracePeriodSecondsMax },
} as const satisfies { readonly [field in keyof ProbeInput]: Range };

function successThresholdProblems(value: number | undefined, { probeType, pointer }: ProbePlace): Problems {
  const field = at(pointer, 'successThreshold');
  if (probeType === 'readiness') return inRange(value, ranges.successThreshold, field);
  return unless(value === undefined || value === 1, field, 'must be 1 for liveness and startup probes');
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
    ...(probe.httpGet ? httpGetProblems(probe.httpGet, { ...place, pointer: at(pointer, 'httpGet') }) : []),
    ...(probe.tcpSocket ? addressProblems(probe.tcpSocket, { ...place, pointer: at(pointer, 'tcpSocket') }) : []),
    ...(probe.grpc ? grpcProblems(probe.grpc, at(pointer, 'grpc')) : []),
  ];
}

function execProblems(command: readonly string[], pointer: string): Problems {
  const field = at(pointer, 'command');
  return [
    ...unless(command.length > 0 && command[0] !== '', field, 'must name a command'),
    ...atMost(command.length, commandWordsMax, field),
    ...command.flatMap((word, index) => unless(!word.includes('\0'), at(field, index), 'must not contain NUL')),
  ];
}

function grpcProblems({ port, service = '' }: NonNullable<ProbeInput['grpc']>, pointer: string): Problems {
  const valid = service.length <= serviceLengthMax && !hasControl(service);
  return [
    ...inRange(port, { min: portMin, max: portMax }, at(pointer, 'port')),
    ...unless(valid, at(pointer, 'service'), `must be at most ${serviceLengthMax} characters, no control characters`),
  ];
}

function httpGetProblems(action: HttpGetInput, place: ProbePlace): Problems {
  return [
    ...addressProblems(action, place),
    ...pathProblems(action.path ?? '', at(place.pointer, 'path')),
    ...headersProblems(action.httpHeaders ?? [], at(place.pointer, 'httpHeaders')),
  ];
}

/** The port of an HTTP or TCP handler and its own host, if it has one. */
function addressProblems(
  address: { readonly port: PortRef; readonly host?: string | undefined },
  place: ProbePlace,
): Problems {
  const valid = !address.host || isHost(address.host);
  return [
    ...unless(valid, at(place.pointer, 'host'), 'must be a host name or an IP address without brackets'),
    ...portProblems(address.port, place),
  ];
}

function portProblems(port: PortRef, { ports = [], pointer }: ProbePlace): Problems {
  const field = at(pointer, 'port');
  if (typeof port === 'number') return inRange(port, { min: portMin, max: portMax }, field);
  if (!isPortName(port)) return [{ pointer: field, detail: 'must be a number or the name of a port' }];
  return unless(
    ports.some(({ name }) => name === port),
    field,
    'must be the name of a port of the container',
  );
}

function pathProblems(path: string, pointer: string): Problems {
  const refusal = pathRefusal(path);
  return [
    ...unless(path.length <= pathLengthMax, pointer, `must be at most ${pathLengthMax} characters`),
    ...unless(!/[\r\n\0]/.test(path), pointer, 'must not contain CR, LF or NUL'),
    ...(refusal === undefined ? [] : [{ pointer, detail: refusal }]),
  ];
}

function headersProblems(headers: readonly HttpHeader[], pointer: string): Problems {
  return [
    ...atMost(headers.length, headersMax, pointer),
    ...headers.slice(0, headersMax).flatMap((header, index) => headerProblems(header, at(pointer, index))),
  ];
}

/** Belong to the connection, not to the request: the prober's transport sets them. */
const hopByHop = /^(connection|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade|content-length)$/;

/** Carry secrets, which are not stored. */
const secretNames = /^(authorization|cookie|x-api-key)$/;

function headerProblems({ name, value }: HttpHeader, pointer: string): Problems {
  const lower = name.toLowerCase();
  const bytes = new TextEncoder().encode(name + value).length;
  const isSecret = secretNames.test(lower) && value !== '' && !secretReference(value);
  return [
    ...unless(isHeaderName(name), at(pointer, 'name'), 'must be an HTTP token'),
    ...unless(!hopByHop.test(lower), at(pointer, 'name'), 'must not be a header of the connection'),
    ...unless(!hasControl(value.replaceAll('\t', '')), at(pointer, 'value'), 'must not contain control characters'),
    ...unless(bytes <= headerBytesMax, pointer, `must be at most ${headerBytesMax} bytes, name and value together`),
    ...unless(!isSecret, at(pointer, 'value'), 'must be a reference: env:NAME, ssm:… or secretsmanager:…'),
  ];
}

const hasControl = (text: string): boolean => [...text].some((c) => c < ' ' || c === '\x7f');
