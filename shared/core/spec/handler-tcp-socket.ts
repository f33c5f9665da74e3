/** The handler `tcpSocket`. */

import { atoi, type ParsedInteger } from '../go/text.ts';
import { at, type FieldProblem, inRange, unless } from './field-problem.ts';
import { handlerRow, resolved } from './handler-fields.ts';
import { hostLengthMax, portMax, portMin } from './limits.ts';
import { isPortName } from './names.ts';
import type { ContainerPort, PortRef } from './types.ts';

export type TcpRequest = {
  readonly kind: 'tcp';
  readonly host: string;
  readonly port: number;
  readonly timeoutMs: number;
};

export const tcpSocket = handlerRow({
  shape: { port: { kind: 'portRef' }, host: { kind: 'text' } },
  problems: addressProblems,
  request(handler, { host, container }, timeoutMs) {
    const port = resolvePort(handler.port, container.ports);
    if (port.kind === 'error') return port;
    return resolved<TcpRequest>({ kind: 'tcp', host: addressHost(handler, host), port: port.value, timeoutMs });
  },
  cost: () => 'tcp',
  descriptors: 1,
  hostOf: addressHost,
});

// The host and the port of a handler, which HTTP and TCP have in common.

type Problems = readonly FieldProblem[];
type Address = { readonly host?: string | undefined; readonly port: PortRef };

/**
 * As in Kubernetes the host may be any text and the port may be a name that no container port has: the probe itself
 * reports that.
 */
export function addressProblems({ host = '', port }: Address, pointer: string): Problems {
  const name = host.endsWith('.') ? host.slice(0, -1) : host;
  return [
    ...unless(name.length <= hostLengthMax, at(pointer, 'host'), `must be at most ${hostLengthMax} characters`),
    ...portProblems(port, at(pointer, 'port')),
  ];
}

function portProblems(port: PortRef, pointer: string): Problems {
  if (typeof port === 'number') return portNumberProblems(port, pointer);
  return unless(isPortName(port), pointer, 'must be a number or the name of a port');
}

export const portNumberProblems = (port: number, pointer: string): Problems =>
  inRange(port, { min: portMin, max: portMax }, pointer);

/** The host of the handler, if it has one, else the target's. */
export function addressHost(handler: Pick<Address, 'host'>, host: string): string {
  return handler.host || host;
}

/** A name is looked up in the container's ports first, then read as a decimal number (probe.ResolveContainerPort). */
export function resolvePort(port: PortRef, ports: readonly ContainerPort[] = []): ParsedInteger {
  const found = typeof port === 'number' ? port : ports.find((candidate) => candidate.name === port)?.containerPort;
  const parsed: ParsedInteger = found === undefined ? atoi(String(port)) : { kind: 'integer', value: found };
  if (parsed.kind === 'error' || (parsed.value >= 1 && parsed.value <= portMax)) return parsed;
  return { kind: 'error', error: `invalid port number: ${parsed.value}` };
}
