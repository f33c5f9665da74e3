/** wire-http.jsonl: HTTP probes against real sockets. */

import { resolveProbeRequest } from '../../shared/core/spec/probe-request.ts';
import type { Attempt } from '../../shared/core/spec/types.ts';
import { systemClock } from '../../shared/lib/clock.ts';
import { guardedDialer } from '../../shared/net/dialer.ts';
import { dialPolicy } from '../../shared/net/policy.ts';
import { resolver } from '../../shared/net/resolver.ts';
import { httpProber } from '../../shared/prober/http/http.ts';
import type { RunningServer } from '../support/tcp-server.ts';
import { type SeenRequest, startWireServer, type WireServer } from '../support/wire-server.ts';
import { compare } from './compare.ts';
import type { VectorRunner } from './runner.ts';
import { byOpenssl, isRefusedByOpenssl } from './tls-rules.ts';

type Expect = {
  readonly result: string;
  readonly output?: string;
  readonly outputBase64?: string;
  readonly outputLength?: number;
  readonly error: string | null;
  readonly requests?: readonly WireRequest[];
};
type WireRequest = SeenRequest & { readonly server: number };
type HttpVector = {
  readonly servers: readonly WireServer[];
  readonly probe: {
    readonly scheme?: string;
    readonly host: string;
    readonly path?: string;
    readonly headers?: readonly (readonly [string, string])[];
    readonly timeoutMs: number;
    /** How often the probe is made, with the same outcome; absent: once. */
    readonly times?: number;
  };
  readonly messageFromTransport?: boolean;
  readonly anyMessage?: boolean;
  readonly expectAnyOf: readonly Expect[];
};

const dial = guardedDialer({
  resolve: resolver({ clock: systemClock }),
  policy: dialPolicy({ mode: 'local' }),
  clock: systemClock,
});
const prober = httpProber({ dial, clock: systemClock });

export const runWireHttp: VectorRunner = async (given) => {
  const vector = given as unknown as HttpVector;
  const requests: WireRequest[] = [];
  const ports: number[] = [];
  const fill = (text: string) => text.replaceAll('{PORT}', String(ports[0])).replaceAll('{PORT2}', String(ports[1]));
  const running: RunningServer[] = [];
  for (const [at, server] of vector.servers.entries()) {
    const seen = (request: SeenRequest) => requests.push({ server: at, ...request });
    const started = await startWireServer(server, { seen, fill });
    running.push(started);
    ports.push(started.port);
  }
  try {
    const { times = 1 } = vector.probe;
    for (let time = 1; time <= times; time += 1) {
      const attempt = await probe(vector, ports[0] ?? 0);
      if (isRefusedByOpenssl(given) && attempt.failureClass === 'PROBER') return byOpenssl;
      const difference = differenceToAll(vector, { attempt, requests }, fill);
      if (difference !== undefined) return difference;
    }
    return undefined;
  } finally {
    await Promise.all(running.map((server) => server.close()));
  }
};

async function probe({ probe }: HttpVector, port: number): Promise<Attempt> {
  const { scheme, host, path = '', headers = [], timeoutMs } = probe;
  const httpHeaders = headers.map(([name, value]) => ({ name, value }));
  const httpGet = { host, path, port, httpHeaders, ...(scheme !== undefined && { scheme }) };
  const target = { namespace: 'default', name: 'target', uid: 'uid' };
  const subject = { target, host, container: { name: 'main' } };
  const resolved = resolveProbeRequest({ httpGet, timeoutSeconds: timeoutMs / 1000 }, subject);
  if (resolved.kind === 'error') {
    return { outcome: 'unknown', output: '', error: resolved.error, timings: { totalMs: 0 } };
  }
  if (resolved.request.kind !== 'http') throw new Error('not an HTTP probe');
  return prober(resolved.request);
}

type Seen = { readonly attempt: Attempt; readonly requests: readonly WireRequest[] };

/** Any one of the expectations is right; the difference reported is the one to the first. */
function differenceToAll(vector: HttpVector, seen: Seen, fill: (text: string) => string): string | undefined {
  const differences = vector.expectAnyOf.map((expect) => {
    const actual = { ...shown(seen.attempt, expect, vector), requests: seen.requests.map(sorted) };
    const requests = (expect.requests ?? []).map((request) => sorted(filled(request, fill)));
    return compare('attempt', actual, { ...expected(expect, vector, fill), requests });
  });
  return differences.includes(undefined) ? undefined : differences[0];
}

/** A text that comes from Go's HTTP stack is not compared. */
const isTextCompared = ({ messageFromTransport, anyMessage }: HttpVector, { result }: Expect): boolean =>
  result === 'success' || !(messageFromTransport || anyMessage);

function shown({ outcome, output, error }: Attempt, expect: Expect, vector: HttpVector) {
  const verdict = { result: outcome, erred: error !== undefined };
  if (!isTextCompared(vector, expect)) return verdict;
  const bytes = Buffer.from(output, expect.outputBase64 === undefined ? 'utf8' : 'latin1');
  return { ...verdict, error: error ?? null, ...text(bytes, expect) };
}

function expected(expect: Expect, vector: HttpVector, fill: (text: string) => string) {
  const verdict = { result: expect.result, erred: expect.error !== null };
  if (!isTextCompared(vector, expect)) return verdict;
  const bytes =
    expect.outputBase64 === undefined
      ? Buffer.from(fill(expect.output ?? ''))
      : Buffer.from(expect.outputBase64, 'base64');
  return { ...verdict, error: expect.error, ...text(bytes, expect), ...lengthOf(expect) };
}

const textShownMax = 1024;
const textCutTo = 64;

/** A long text is given by its beginning and its length. */
function text(bytes: Buffer, { outputLength = 0 }: Expect) {
  const isCut = outputLength > textShownMax;
  return { output: bytes.toString('latin1', 0, isCut ? textCutTo : undefined), ...(isCut && { length: bytes.length }) };
}

const lengthOf = ({ outputLength = 0 }: Expect) => (outputLength > textShownMax ? { length: outputLength } : {});

const filled = ({ server, line, headers }: WireRequest, fill: (text: string) => string): WireRequest => ({
  server,
  line: fill(line),
  headers: headers.map(([name, value]) => [name, fill(value)] as const),
});

/** The order of fields does not matter, that of one field's values does. */
const sorted = ({ server, line, headers }: WireRequest): WireRequest => ({
  server,
  line,
  headers: headers.toSorted(([a], [b]) => (a < b ? -1 : Number(a > b))),
});
