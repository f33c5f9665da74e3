/** The probes in the spec of a Pod that is not validated yet, and the ports that they dial. */
import { isSecretLiteral } from '../core/spec/handler-http-get.ts';
import {
  gracePeriodSecondsMax,
  initialDelaySecondsMax,
  periodSecondsMax,
  thresholdMax,
  timeoutSecondsMax,
} from '../core/spec/limits.ts';
import { ownProperty } from '../lib/own-property.ts';
import { handlerOfCommand, localNames } from './command/handler.ts';
import type { Reading } from './command/reading.ts';
import type { Path } from './manifest.ts';
import { isMembers, listOf, type Members, membersOf, numberOf, textOf } from './values.ts';

const probeFields = ['startupProbe', 'readinessProbe', 'livenessProbe'] as const;
const containerLists = ['initContainers', 'containers'] as const;
const dialling = ['httpGet', 'tcpSocket', 'grpc'] as const;

export type DialledPort = {
  readonly written: number | string;
  /** Undefined: it has the name of no port of the container. */
  readonly number: number | undefined;
};

export const hasProbes = (spec: unknown): boolean =>
  [spec, ...containerLists.flatMap((list) => listOf(membersOf(spec)[list]))].some((each) =>
    probeFields.some((field) => isMembers(membersOf(each)[field])),
  );

type PlacedProbe = {
  readonly probe: Members;
  readonly container: Members;
  /** The path of the probe in the spec. */
  readonly path: Path;
};

/** A copy with other probes. */
export function mapProbes(spec: Members, change: (placed: PlacedProbe) => Members): Members {
  const container = (value: unknown, path: Path): unknown => {
    if (!isMembers(value)) return value;
    const changed = probeFields
      .filter((field) => isMembers(value[field]))
      .map((field) => [field, change({ probe: membersOf(value[field]), container: value, path: [...path, field] })]);
    return { ...value, ...Object.fromEntries(changed) };
  };
  const lists = containerLists
    .filter((list) => Array.isArray(spec[list]))
    .map((list) => [list, listOf(spec[list]).map((value, index) => container(value, [list, index]))]);
  return { ...spec, ...Object.fromEntries(lists) };
}

function placedProbes(spec: Members): readonly PlacedProbe[] {
  const found: PlacedProbe[] = [];
  mapProbes(spec, (placed) => {
    found.push(placed);
    return placed.probe;
  });
  return found;
}

const readingOf = (probe: Members): Reading =>
  handlerOfCommand(listOf(membersOf(probe.exec).command).map(String), localNames);

/** What the commands of exec probes ask, and where they stand in the spec. */
export const execReadings = (spec: Members): readonly { readonly path: Path; readonly reading: Reading }[] =>
  placedProbes(spec)
    .filter(({ probe }) => isMembers(probe.exec))
    .map(({ probe, path }) => ({ path: [...path, 'exec'], reading: readingOf(probe) }));

/** Where the first header stands whose value is a secret itself, which the API refuses. */
export const secretPath = (spec: Members): Path | undefined =>
  placedProbes(spec)
    .flatMap(({ probe, path }) =>
      listOf(membersOf(probe.httpGet).httpHeaders).map((header, index) => {
        const { name, value } = membersOf(header);
        const isSecret = isSecretLiteral({ name: textOf(name) ?? '', value: textOf(value) ?? '' });
        return { isSecret, path: [...path, 'httpGet', 'httpHeaders', index] };
      }),
    )
    .find(({ isSecret }) => isSecret)?.path;

/** A copy in which a handler takes the place of each command that asks over the network what the handler asks. */
export const withHandlers = (spec: Members): Members =>
  mapProbes(spec, ({ probe }) => {
    const { exec, ...numbers } = probe;
    const reading = readingOf(probe);
    return isMembers(exec) && reading.kind === 'asks' ? { ...reading.handler, ...numbers } : probe;
  });

/** The ports that probes dial at the Pod's own address: a probe that names a host dials another one. */
export function dialledPorts(spec: Members): readonly DialledPort[] {
  const ports: DialledPort[] = [];
  withPorts(spec, (port) => {
    ports.push(port);
    return port.written;
  });
  return ports;
}

/** A copy whose probes dial other ports. A probe that names a host itself keeps its port. */
export const withPorts = (spec: Members, portOf: (port: DialledPort) => number | string): Members =>
  mapProbes(spec, ({ probe, container }) => withPort(probe, container, portOf));

function withPort(probe: Members, container: Members, portOf: (port: DialledPort) => number | string): Members {
  const kind = dialling.find((each) => isMembers(ownProperty(probe, each)));
  if (kind === undefined) return probe;
  const handler = membersOf(probe[kind]);
  const written = numberOf(handler.port) ?? textOf(handler.port);
  if (written === undefined || textOf(handler.host) !== undefined) return probe;
  return { ...probe, [kind]: { ...handler, port: portOf(portIn(container, written)) } };
}

function portIn(container: Members, written: number | string): DialledPort {
  const ports = listOf(container.ports).map(membersOf);
  const number =
    typeof written === 'number' ? written : numberOf(ports.find(({ name }) => name === written)?.containerPort);
  return { written, number };
}

// Numbers of probes that Kubernetes takes and the API does not: they become the highest that it takes.

const highest: { readonly [field: string]: number } = {
  initialDelaySeconds: initialDelaySecondsMax,
  periodSeconds: periodSecondsMax,
  timeoutSeconds: timeoutSecondsMax,
  successThreshold: thresholdMax,
  failureThreshold: thresholdMax,
  terminationGracePeriodSeconds: gracePeriodSecondsMax,
};

export type CutNumber = { readonly path: Path; readonly field: string; readonly written: number; readonly max: number };

/** A copy of the spec of a Pod with numbers that the API takes, and the places of those that were higher. */
export function withinLimits(spec: Members): { readonly spec: Members; readonly cut: readonly CutNumber[] } {
  const cut: CutNumber[] = [];
  const limited = mapProbes(spec, ({ probe, path }) =>
    Object.fromEntries(
      Object.entries(probe).map(([field, written]) => {
        const max = ownProperty(highest, field) ?? Number.POSITIVE_INFINITY;
        if (typeof written !== 'number' || !Number.isInteger(written) || written <= max) return [field, written];
        cut.push({ path: [...path, field], field, written, max });
        return [field, max];
      }),
    ),
  );
  return { spec: limited, cut };
}
