/** wire-h2.jsonl and wire-goaway.jsonl: HTTP/2 frames as bytes, for gRPC and for HTTPS. */
import { resolveProbeRequest } from '../../shared/core/spec/probe-request.ts';
import { systemClock } from '../../shared/lib/clock.ts';
import { grpcProber } from '../../shared/prober/grpc/grpc.ts';
import { httpProber } from '../../shared/prober/http/http.ts';
import { type Http2Script, type Http2ScriptServer, startHttp2Script } from '../support/http2-script-server.ts';
import { loopbackDial } from '../support/loopback-dial.ts';
import type { SentFrame } from '../support/sent-frames.ts';
import { compare } from './compare.ts';
import type { VectorRunner } from './runner.ts';

type Http2Vector = Http2Script & {
  /** A script for each connection. Absent: the vector is the script of all. */
  readonly connections?: readonly [Http2Script, ...Http2Script[]];
  readonly kind: 'grpc' | 'https-h2';
  readonly probe: { readonly service?: string; readonly path?: string; readonly timeoutMs: number };
  readonly expect: {
    readonly result: string;
    /** Then the result is thrown away. */
    readonly erred: boolean;
    readonly output?: string;
    readonly outputBase64?: string;
    readonly requested: boolean;
    /** What kubelet sent on each connection. Absent: it is not recorded. */
    readonly connections?: readonly (readonly SentFrame[])[];
  };
};

const host = '127.0.0.1';
const options = { dial: loopbackDial, clock: systemClock };
const grpc = grpcProber(options);
const http = httpProber(options);

export const runWireH2: VectorRunner = async (given) => {
  const vector = given as unknown as Http2Vector;
  const server = await startHttp2Script(vector.connections ?? vector, vector.kind === 'https-h2');
  try {
    const { outcome, output, error } = await probe(vector, server.port);
    await server.whenRead();
    const erred = error !== undefined;
    const requested = server.isRequested();
    const actual = erred ? { erred, requested } : { erred, requested, result: outcome, ...shown(outcome, output) };
    return compare('attempt', actual, expected(vector, server.port)) ?? wireDifference(vector, server);
  } finally {
    await server.close();
  }
};

function probe({ kind, probe: { service = '', path = '/', timeoutMs } }: Http2Vector, port: number) {
  if (kind === 'grpc') return grpc({ kind: 'grpc', host, port, service, timeoutMs });
  const target = { namespace: 'default', name: 'target', uid: 'uid' };
  const handler = { httpGet: { scheme: 'HTTPS', path, port }, timeoutSeconds: timeoutMs / 1000 };
  const resolved = resolveProbeRequest(handler, { target, host, container: { name: 'main' } });
  if (resolved.kind === 'error' || resolved.request.kind !== 'http') throw new Error('not an HTTP probe');
  return http(resolved.request);
}

function expected({ expect }: Http2Vector, port: number): unknown {
  const { erred, requested, result, output = '', outputBase64 } = expect;
  if (erred) return { erred, requested };
  const text = outputBase64 === undefined ? output : Buffer.from(outputBase64, 'base64').toString('latin1');
  return { erred, requested, result, ...shown(result, text.replaceAll('PORT', String(port))) };
}

function wireDifference({ expect: { connections } }: Http2Vector, server: Http2ScriptServer): string | undefined {
  if (connections === undefined) return undefined;
  const wanted = JSON.stringify(asTexts(connections)).replaceAll('PORT', String(server.port));
  return compare('frames', asTexts(server.sent()), JSON.parse(wanted));
}

/** A line for each frame. */
const asTexts = (connections: readonly (readonly SentFrame[])[]): readonly (readonly string[])[] =>
  connections.map((frames) =>
    frames.map(({ type, stream, flags, fields, payload }) =>
      [type, `stream ${stream}`, `flags ${flags}`, payload ?? JSON.stringify(fields)].join(' '),
    ),
  );

/** The texts of failures differ from library to library. */
const shown = (result: string, output: string) => (result === 'failure' ? {} : { output });
