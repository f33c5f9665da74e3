/**
 * In a network namespace of its own, with a link to another one (link.ts): makes probes of each protocol, and prints
 * how many bytes of IP packets went over the link for each, as JSON.
 */
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { resolveProbeRequest } from '../../../shared/core/spec/probe-request.ts';
import { systemClock as clock } from '../../../shared/lib/clock.ts';
import { guardedDialer } from '../../../shared/net/dialer.ts';
import { dialPolicy } from '../../../shared/net/policy.ts';
import { resolver } from '../../../shared/net/resolver.ts';
import { grpcProber } from '../../../shared/prober/grpc/grpc.ts';
import { httpProber } from '../../../shared/prober/http/http.ts';
import type { Prober } from '../../../shared/prober/prober.ts';
import { tcpProber } from '../../../shared/prober/tcp.ts';
import { tlsSessions } from '../../../shared/prober/tls/sessions.ts';
import { giveRoute, layLink, targetAddress } from '../../e2e/faults/network/link.ts';
import { answerOf } from '../../support/children.ts';
import { farPorts } from './ports.ts';

export type Counted = Readonly<Record<string, { readonly sent: number; readonly received: number }>>;

const probes = 50;
/** The last packets of a connection come after the probe's end. */
const restMs = 200;
const ethernetHeader = 14;

/** What the link of this end has carried. Source: /proc/net/dev, in proc(5). */
function carried(): { readonly sent: number; readonly received: number } {
  const line = readFileSync('/proc/net/dev', 'utf8').match(/^ *room0:(.*)$/m)?.[1] ?? '';
  const columns = line.trim().split(/ +/).map(Number);
  const [receivedBytes = 0, receivedPackets = 0] = columns;
  const [sentBytes = 0, sentPackets = 0] = columns.slice(8);
  return {
    sent: sentBytes - ethernetHeader * sentPackets,
    received: receivedBytes - ethernetHeader * receivedPackets,
  };
}

const dial = guardedDialer({ resolve: resolver({ clock }), policy: dialPolicy({ mode: 'local' }), clock });
const handlers = {
  http: { httpGet: { path: '/healthz', port: farPorts.http } },
  https: { httpGet: { path: '/healthz', port: farPorts.https, scheme: 'HTTPS' } },
  tcp: { tcpSocket: { port: farPorts.tcp } },
  grpc: { grpc: { port: farPorts.grpc } },
};
const kinds: readonly { readonly name: string; readonly of: keyof typeof handlers; readonly prober: Prober }[] = [
  { name: 'http', of: 'http', prober: httpProber({ dial, clock }) as Prober },
  { name: 'https', of: 'https', prober: httpProber({ dial, clock }) as Prober },
  { name: 'resumed', of: 'https', prober: httpProber({ dial, clock, tlsSessions: tlsSessions(clock) }) as Prober },
  { name: 'tcp', of: 'tcp', prober: tcpProber({ dial, clock }) as Prober },
  { name: 'grpc', of: 'grpc', prober: grpcProber({ dial, clock }) as Prober },
];

async function probe({ of, prober }: (typeof kinds)[number]): Promise<void> {
  const target = { namespace: 'default', name: 'target', uid: 'uid' };
  const host = targetAddress(0);
  const resolved = resolveProbeRequest(
    { ...handlers[of], timeoutSeconds: 5 },
    { target, host, container: { name: 'main' } },
  );
  if (resolved.kind === 'error') throw new Error(resolved.error);
  const { outcome, output, error } = await prober(resolved.request);
  if (outcome !== 'success') throw new Error(`${of}: ${outcome} ${error ?? output}`);
}

const path = fileURLToPath(new URL('far.ts', import.meta.url));
const far = spawn('unshare', ['--net', process.execPath, path], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
// Its namespace is there once it listens to its channel.
await answerOf(far, 'live');
layLink(far.pid ?? 0);
await answerOf(far, 'answer');
giveRoute();
const counted: Record<string, { readonly sent: number; readonly received: number }> = {};
for (const kind of kinds) {
  // Finds the neighbour's address, and is given a session.
  await probe(kind);
  await sleep(restMs);
  const before = carried();
  for (let left = probes; left > 0; left -= 1) await probe(kind);
  await sleep(restMs);
  const after = carried();
  counted[kind.name] = {
    sent: (after.sent - before.sent) / probes,
    received: (after.received - before.received) / probes,
  };
}
process.stdout.write(JSON.stringify(counted satisfies Counted), () => process.exit());
