/** wire-tcp.jsonl: TCP probes against real sockets. */
import type { Attempt } from '../../shared/core/spec/types.ts';
import { systemClock } from '../../shared/lib/clock.ts';
import { tcpProber } from '../../shared/prober/tcp.ts';
import { loopbackDial } from '../support/loopback-dial.ts';
import { type RunningServer, startTcpServer, type TcpServerKind } from '../support/tcp-server.ts';
import { compare } from './compare.ts';
import type { VectorRunner } from './runner.ts';

type Expect = { readonly result: string; readonly output: string; readonly error: string | null };
type TcpVector = {
  readonly server: string;
  readonly host: string;
  readonly port?: number;
  readonly timeoutMs: number;
  readonly messageFromTransport?: boolean;
  readonly expect: Expect;
};

const probe = tcpProber({ dial: loopbackDial, clock: systemClock });

export const runWireTcp: VectorRunner = async (vector) => {
  const { server: kind, host, port, timeoutMs, messageFromTransport, expect } = vector as unknown as TcpVector;
  const server = await startServer(kind, host, port);
  try {
    const attempt = await probe({ kind: 'tcp', host, port: server.port, timeoutMs });
    const expected = { ...expect, output: expect.output?.replaceAll('{PORT}', String(server.port)) ?? '' };
    return compare('attempt', seen(attempt, messageFromTransport), seenOf(expected, messageFromTransport));
  } finally {
    await server.close();
  }
};

/** A given port has no server: nothing can listen on it. */
async function startServer(kind: string, host: string, port: number | undefined): Promise<RunningServer> {
  if (port !== undefined) return { port, close: async () => undefined };
  return startTcpServer(kind.replace(/-ipv6$/, '') as TcpServerKind, host);
}

const seen = ({ outcome, output, error }: Attempt, fromTransport = false) =>
  seenOf({ result: outcome, output, error: error ?? null }, fromTransport);

/** A text that comes from Go's network stack is not compared. */
const seenOf = (expect: Expect, fromTransport = false) => ({
  result: expect.result,
  erred: expect.error !== null,
  ...(!fromTransport && { output: expect.output, error: expect.error }),
});
