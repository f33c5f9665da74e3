/** The probes in the spec of a Pod that is not validated yet, and the ports that they dial. */
import { ownProperty } from '../core/own-property.ts';
import type { Path } from './manifest.ts';
import { isMembers, listOf, type Members, membersOf, numberOf, textOf, valueAt } from './values.ts';

const probeFields = ['startupProbe', 'readinessProbe', 'livenessProbe'] as const;
const containerLists = ['initContainers', 'containers'] as const;
const dialling = ['httpGet', 'tcpSocket', 'grpc'] as const;

export type DialledPort = {
  readonly written: number | string;
  /** Undefined: it has the name of no port of the container. */
  readonly number: number | undefined;
  /** The names that the container has for it. */
  readonly names: readonly string[];
};

export const hasProbes = (spec: unknown): boolean =>
  [spec, ...containerLists.flatMap((list) => listOf(membersOf(spec)[list]))].some((each) =>
    probeFields.some((field) => isMembers(membersOf(each)[field])),
  );

/** Where the commands of exec probes stand in the spec. */
export const execPaths = (spec: unknown): readonly Path[] =>
  containerLists.flatMap((list) =>
    listOf(membersOf(spec)[list]).flatMap((container, index) =>
      probeFields
        .map((field): Path => [list, index, field, 'exec'])
        .filter(([, , field]) => isMembers(valueAt(container, [String(field), 'exec']))),
    ),
  );

/** Without those of probes that name a host themselves: these dial another address. */
export function dialledPorts(spec: Members): readonly DialledPort[] {
  const ports: DialledPort[] = [];
  withPorts(spec, (port) => {
    ports.push(port);
    return port.written;
  });
  return ports;
}

/** A copy whose probes dial other ports. Of a probe that names a host itself the port stays. */
export function withPorts(spec: Members, portOf: (port: DialledPort) => number | string): Members {
  const mapped = Object.entries(spec).map(([field, value]) =>
    containerLists.some((list) => list === field)
      ? [field, listOf(value).map((container) => withContainerPorts(container, portOf))]
      : [field, value],
  );
  return Object.fromEntries(mapped);
}

function withContainerPorts(container: unknown, portOf: (port: DialledPort) => number | string): unknown {
  if (!isMembers(container)) return container;
  const changed = probeFields
    .filter((field) => isMembers(container[field]))
    .map((field) => [field, withPort(membersOf(container[field]), container, portOf)]);
  return { ...container, ...Object.fromEntries(changed) };
}

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
  const names = ports.filter(({ containerPort }) => containerPort === number).flatMap(({ name }) => textOf(name) ?? []);
  return { written, number, names };
}
