/** The handler `grpc`. */
import { at, unless } from './field-problem.ts';
import { handlerRow, resolved } from './handler-fields.ts';
import { portNumberProblems } from './handler-tcp-socket.ts';
import { serviceLengthMax } from './limits.ts';

export type GrpcRequest = {
  readonly kind: 'grpc';
  readonly host: string;
  readonly port: number;
  readonly service: string;
  readonly timeoutMs: number;
};

export const grpc = handlerRow({
  shape: { port: { kind: 'port' }, service: { kind: 'text' } },
  problems: ({ port, service = '' }, pointer) => [
    ...portNumberProblems(port, at(pointer, 'port')),
    ...unless(
      service.length <= serviceLengthMax,
      at(pointer, 'service'),
      `must be at most ${serviceLengthMax} characters`,
    ),
  ],
  request: ({ port, service = '' }, { host }, timeoutMs) =>
    resolved<GrpcRequest>({ kind: 'grpc', host, port, service, timeoutMs }),
  cost: () => 'grpc',
  descriptors: 1,
  hostOf: (_, host) => host,
});
