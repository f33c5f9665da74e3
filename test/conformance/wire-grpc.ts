/** wire-grpc.jsonl: gRPC health probes against real servers. */
import { systemClock } from '../../shared/lib/clock.ts';
import { grpcProber } from '../../shared/prober/grpc/grpc.ts';
import { type GrpcSeen, type GrpcServerSpec, startGrpcServer } from '../support/grpc-server.ts';
import { loopbackDial } from '../support/loopback-dial.ts';
import { compare } from './compare.ts';
import type { VectorRunner } from './runner.ts';

type Metadata = readonly (readonly [name: string, value: string])[];
type Request = { readonly method: string; readonly service?: string; readonly metadata: Metadata };
type Expect = {
  readonly result: string;
  readonly output?: string;
  readonly error?: string | null;
  readonly requests?: readonly Request[];
};
type GrpcVector = {
  readonly server: GrpcServerSpec;
  readonly service?: string;
  readonly timeoutMs: number;
  readonly expectAnyOf: readonly Expect[];
};

const host = '127.0.0.1';
const probe = grpcProber({ dial: loopbackDial, clock: systemClock });

export const runWireGrpc: VectorRunner = async (vector) => {
  const { server: spec, service = '', timeoutMs, expectAnyOf } = vector as unknown as GrpcVector;
  const server = await startGrpcServer(spec);
  try {
    const { outcome, output, error } = await probe({ kind: 'grpc', host, port: server.port, service, timeoutMs });
    const actual = { result: outcome, output, error: error ?? null, requests: server.seen.map(seenRequest) };
    const differences = expectAnyOf.map((expect) => compare('attempt', actual, expected(expect, server.port)));
    return differences.includes(undefined) ? undefined : differences.join('\n');
  } finally {
    await server.close();
  }
};

const expected = ({ result, output = '', error = null, requests = [] }: Expect, port: number): unknown => ({
  result,
  output: withPort(output, port),
  error,
  requests: requests.map(({ method, service = '', metadata }) => ({
    method,
    service,
    metadata: sorted(metadata.map(([name, value]) => [name, expectedValue(name, withPort(value, port))])),
  })),
});

const withPort = (text: string, port: number): string => text.replaceAll('{PORT}', String(port));

/** The library's part of the user agent is not kubelet's. */
const expectedValue = (name: string, value: string): string =>
  name === 'user-agent' ? value.replace(/ grpc-go\/\S+$/, '') : value;

const seenRequest = ({ method, service, headers }: GrpcSeen): Request => ({
  method,
  service,
  metadata: sorted(
    Object.entries(headers).flatMap(([name, value]): Metadata => (isMetadata(name) ? [[name, String(value)]] : [])),
  ),
});

/** What gRPC itself takes from a request is not metadata, but for the authority. */
const isMetadata = (name: string): boolean => name === ':authority' || (!name.startsWith(':') && !ofGrpc.has(name));

const ofGrpc: ReadonlySet<string> = new Set(['te', 'grpc-timeout', 'grpc-accept-encoding']);

const sorted = (metadata: Metadata): Metadata => [...metadata].sort(([a], [b]) => (a < b ? -1 : 1));
