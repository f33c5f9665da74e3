/**
 * The product's side of the saturated rounds of `npm run bench`, in a process of its own, as the Go program beside it
 * is kubelet's: `KIND PORT PROBES CONCURRENCY`, or `https-resumed` for HTTPS with resumed TLS sessions. Prints one line
 * of JSON.
 */
import type { Handler } from '../../../shared/core/spec/probe-request.ts';
import { systemClock as clock } from '../../../shared/lib/clock.ts';
import { guardedDialer } from '../../../shared/net/dialer.ts';
import { dialPolicy } from '../../../shared/net/policy.ts';
import { resolver } from '../../../shared/net/resolver.ts';
import { probe } from '../../../shared/prober/probe.ts';
import { proberRegistry } from '../../../shared/prober/registry.ts';
import { tlsSessions } from '../../../shared/prober/tls/sessions.ts';
import { noSecrets } from '../../support/no-secrets.ts';
import { orderOnLoopback } from '../../support/probe-order.ts';
import { hostOf, hosts } from '../hosts.ts';
import { countedTlsPaths } from '../tls-paths.ts';

const timeoutSeconds = 5;
const resumed = 'https-resumed';

console.log(JSON.stringify(await saturated(process.argv.slice(2))));

/** The product's probers, resolver and dial policy. */
function ports(kind: string) {
  const dial = guardedDialer({ resolve: resolver({ clock }), policy: dialPolicy({ mode: 'local' }), clock });
  const run = async () => ({ kind: 'denied', message: 'not here' }) as const;
  const sessions = kind === resumed ? tlsSessions(clock) : undefined;
  return { clock, probers: proberRegistry({ dial, clock, run, secrets: noSecrets, tlsSessions: sessions }) };
}

function handlerOf(kind: string, port: number): Handler {
  switch (kind) {
    case 'tcp':
      return { tcpSocket: { port }, timeoutSeconds };
    case 'grpc':
      return { grpc: { port, service: '' }, timeoutSeconds };
    case resumed:
      return handlerOf('https', port);
    default:
      return { httpGet: { port, path: '/healthz', scheme: kind.toUpperCase() }, timeoutSeconds };
  }
}

async function saturated([kind = '', port, probes, concurrency]: readonly string[]) {
  const handler = handlerOf(kind, Number(port));
  const orders = Array.from({ length: hosts }, (_, at) => ({ ...orderOnLoopback, host: hostOf(at), handler }));
  const tls = countedTlsPaths();
  const own = ports(kind);
  const run = async (count: number): Promise<number> => {
    let left = count;
    let failed = 0;
    const lane = async () => {
      while (left > 0) {
        left -= 1;
        const { conclusion } = await probe(own, orders[left % hosts] ?? orderOnLoopback);
        if (conclusion.kind !== 'result' || conclusion.result !== 'success') failed += 1;
      }
    };
    await Promise.all(Array.from({ length: Number(concurrency) }, lane));
    return failed;
  };
  // The first ones pay for what is done once.
  await run(Number(probes) / 4);
  const before = cpuMicros();
  const failed = await run(Number(probes));
  return { probes: Number(probes), failed, cpuMicros: (cpuMicros() - before) / Number(probes), tls };
}

function cpuMicros(): number {
  const { user, system } = process.cpuUsage();
  return user + system;
}
