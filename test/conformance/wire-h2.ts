/** wire-h2.jsonl: HTTP/2 frames as bytes, for gRPC and for HTTPS. */
import { systemClock } from '../../shared/lib/clock.ts';
import { grpcProber } from '../../shared/prober/grpc.ts';
import { httpProber } from '../../shared/prober/http.ts';
import { type Http2Script, startHttp2Script } from '../support/http2-script-server.ts';
import { loopbackDial } from '../support/loopback-dial.ts';
import { compare } from './compare.ts';
import type { VectorRunner } from './runner.ts';

type Http2Vector = Http2Script & {
  readonly kind: 'grpc' | 'https-h2';
  readonly probe: { readonly service?: string; readonly path?: string; readonly timeoutMs: number };
  readonly expect: {
    readonly result: string;
    /** Then the result is thrown away. */
    readonly erred: boolean;
    readonly output?: string;
    readonly outputBase64?: string;
    readonly requested: boolean;
  };
};

const host = '127.0.0.1';
const options = { dial: loopbackDial, clock: systemClock };
const grpc = grpcProber(options);
const http = httpProber(options);

export const runWireH2: VectorRunner = async (given) => {
  const vector = given as unknown as Http2Vector;
  const server = await startHttp2Script(vector, vector.kind === 'https-h2');
  try {
    const { outcome, output, error } = await probe(vector, server.port);
    const erred = error !== undefined;
    const requested = server.isRequested();
    const actual = erred ? { erred, requested } : { erred, requested, result: outcome, ...shown(outcome, output) };
    return compare('attempt', actual, expected(vector, server.port));
  } finally {
    await server.close();
  }
};

function probe({ kind, probe: { service = '', path = '/', timeoutMs } }: Http2Vector, port: number) {
  if (kind === 'grpc') return grpc({ kind: 'grpc', host, port, service, timeoutMs });
  const url = `https://${host}:${port}${path}`;
  return http({ kind: 'http', url, headers: [], hostOverride: '', timeoutMs });
}

function expected({ expect }: Http2Vector, port: number): unknown {
  const { erred, requested, result, output = '', outputBase64 } = expect;
  if (erred) return { erred, requested };
  const text = outputBase64 === undefined ? output : Buffer.from(outputBase64, 'base64').toString('latin1');
  return { erred, requested, result, ...shown(result, text.replaceAll('PORT', String(port))) };
}

/** The texts of failures differ from library to library. */
const shown = (result: string, output: string) => (result === 'failure' ? {} : { output });
