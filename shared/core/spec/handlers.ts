/**
 * The table of handlers, one row a protocol. Everything that differs by protocol is derived from it, except the prober
 * itself.
 */
import { exec } from './handler-exec.ts';
import type { InputOf, Shape, StoredOf, UncheckedOf } from './handler-fields.ts';
import { type ProbeCost, probeCpuMs } from './handler-fields.ts';
import { grpc } from './handler-grpc.ts';
import { httpGet } from './handler-http-get.ts';
import { tcpSocket } from './handler-tcp-socket.ts';

/** In kubelet's order: the first handler of a probe counts. */
export const handlers = { exec, httpGet, tcpSocket, grpc } as const;

export type HandlerKind = keyof typeof handlers;
type Rows = typeof handlers;

/** As clients write them. */
export type HandlersInput = { readonly [Kind in HandlerKind]?: InputOf<Rows[Kind]['shape']> | undefined };
/** With their defaults. */
export type Handlers = { readonly [Kind in HandlerKind]?: StoredOf<Rows[Kind]['shape']> };
export type UncheckedHandlers = { readonly [Kind in HandlerKind]?: UncheckedOf<Rows[Kind]['shape']> };

export type ProbeRequest = Extract<ReturnType<Rows[HandlerKind]['request']>, { kind: 'request' }>['request'];

export const handlerKinds = Object.keys(handlers) as readonly HandlerKind[];

/** The handlers that dial, in the table's order. */
export const dialingKinds = handlerKinds.filter((kind) => handlers[kind].hostOf);

/** What `make` returns for the shape of each handler. */
export const mapHandlers = <Made>(make: (shape: Shape) => Made): { readonly [Kind in HandlerKind]: Made } =>
  Object.fromEntries(handlerKinds.map((kind) => [kind, make(handlers[kind].shape)])) as Record<HandlerKind, Made>;

/**
 * The handler of a probe with its row, whose functions take it. Undefined: the probe has no handler that this release
 * knows.
 */
export function handlerOf(
  probe: UncheckedHandlers,
): { readonly row: Rows[HandlerKind]; readonly handler: never } | undefined {
  const kind = handlerKinds.find((each) => probe[each] !== undefined);
  return kind && { row: handlers[kind], handler: probe[kind] as never };
}

/** The host that a probe dials, where `host` is the target's. Undefined: the probe runs a command. */
export function dialledHost(probe: UncheckedHandlers, host: string): string | undefined {
  const found = handlerOf(probe);
  return found ? found.row.hostOf?.(found.handler, host) : host;
}

/** CPU of one probe, ms of one vCPU. */
export const cpuMs = (probe: UncheckedHandlers): number => probeCpuMs[costOf(probe)];

/** Without a handler it is a prober error, which costs no more than the cheapest probe. */
export function costOf(probe: UncheckedHandlers): ProbeCost {
  const found = handlerOf(probe);
  return found ? found.row.cost(found.handler) : 'tcp';
}
