import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { localRunner } from '../../shared/exec/local.ts';
import { endingClock, sleep, systemClock } from '../../shared/lib/clock.ts';
import { probe } from '../../shared/prober/probe.ts';
import type { Probers } from '../../shared/prober/prober.ts';
import { proberRegistry } from '../../shared/prober/registry.ts';
import { startGrpcServer } from '../support/grpc-server.ts';
import { loopbackDialer } from '../support/loopback-dial.ts';
import { noSecrets } from '../support/no-secrets.ts';
import { orderOnLoopback } from '../support/probe-order.ts';
import { portOf, startTcpServer } from '../support/tcp-server.ts';
import { startWireServer } from '../support/wire-server.ts';

const clock = systemClock;
const timeoutSeconds = 60;
/** Far less than the probe's time, far more than an abandoned one needs. */
const atOnceMs = 5_000;

function proberOfRun(): { readonly probers: Probers; readonly abandon: () => void } {
  const own = endingClock(clock);
  const dial = loopbackDialer(own);
  const run = localRunner({ clock: own, allows: () => true });
  return { probers: proberRegistry({ dial, clock: own, run, secrets: noSecrets }), abandon: own.end };
}

type Handlers = { readonly [what: string]: (t: TestContext) => Promise<Parameters<typeof handlerOf>[0]> };

const handlerOf = (handler: object) => ({ ...handler, timeoutSeconds });

const silent = (t: TestContext) => portOf(t, startTcpServer('accept-silent', '127.0.0.1'));

const hanging: Handlers = {
  'a connection that is never established': async (t) => ({
    tcpSocket: { port: await portOf(t, startTcpServer('backlog-full', '127.0.0.1')) },
  }),
  'an answer that never comes': async (t) => ({ httpGet: { port: await silent(t) } }),
  'a TLS handshake that never ends': async (t) => ({ httpGet: { port: await silent(t), scheme: 'HTTPS' } }),
  'a body that never ends': async (t) => {
    const send = 'HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nbegin';
    const routes = { '*': [{ send }, { hold: true }] };
    return { httpGet: { port: await portOf(t, startWireServer({ kind: 'raw', routes })) } };
  },
  'a gRPC connection that is silent': async (t) => ({
    grpc: { port: await portOf(t, startGrpcServer({ kind: 'accept-silent' })) },
  }),
  'a gRPC port that refuses, and is tried again and again': async (t) => ({
    grpc: { port: await portOf(t, startGrpcServer({ kind: 'closed' })) },
  }),
  'a gRPC call that is never answered': async (t) => ({
    grpc: {
      port: await portOf(t, startGrpcServer({ kind: 'grpc-health', statuses: { '': 'SERVING' }, delayMs: 120_000 })),
    },
  }),
  'a command that never ends': async () => ({ exec: { command: ['/bin/sh', '-c', 'sleep 1000 & sleep 1000'] } }),
};

describe('what a run leaves behind ends when it is abandoned', () => {
  for (const [what, handler] of Object.entries(hanging))
    test(what, async (t) => {
      const { probers, abandon } = proberOfRun();
      const reporting = probe({ probers, clock }, { ...orderOnLoopback, handler: handlerOf(await handler(t)) });
      // Long enough for each to be where it hangs; earlier it has to end as well.
      await sleep(clock, 300);
      abandon();
      const late = new AbortController();
      const first = await Promise.race([reporting, sleep(clock, atOnceMs, late.signal)]);
      late.abort();
      assert.notEqual(first, undefined, 'still in flight');
    });
});
