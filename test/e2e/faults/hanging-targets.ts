/**
 * The servers of `hanging.ts`, in their own process with enough descriptors: one that answers, one that never does, and
 * a DNS server without answers for dead names.
 */
import { createServer } from 'node:http';
import { type AddressInfo, createServer as createNetServer } from 'node:net';
import { startDnsServer } from '../../support/dns-server.ts';
import { type Standstill, watchStandstills } from '../../support/standstill.ts';

/** Ports, and the DNS server's address. */
export type Servers = { readonly healthy: number; readonly hanging: number; readonly dns: string };

/** When each path was asked for, wall time. */
export type Asked = { readonly [path: string]: readonly number[] };

export type Served = { readonly asked: Asked; readonly standstills: readonly Standstill[] };

const asked: Record<string, number[]> = {};
const standstills = watchStandstills();

const healthy = createServer((request, response) => {
  const path = request.url ?? '';
  const times = asked[path] ?? [];
  asked[path] = times;
  times.push(Date.now());
  response.end();
});
const hanging = createNetServer((socket) => socket.on('error', () => undefined).resume());
/** The TTL is 0, so every probe of a name resolves it. */
const dns = await startDnsServer((name) =>
  name.startsWith('dead-') ? { kind: 'silence' } : { kind: 'addresses', a: ['127.0.0.1'], ttl: 0 },
);

const portOf = (server: { address(): AddressInfo | string | null }) => (server.address() as AddressInfo).port;

healthy.listen(0, '127.0.0.1', () =>
  hanging.listen(0, '127.0.0.1', 1_024, () =>
    process.send?.({ healthy: portOf(healthy), hanging: portOf(hanging), dns: dns.address } satisfies Servers),
  ),
);
process.on('message', () => process.send?.({ asked, standstills: standstills() } satisfies Served));
process.on('disconnect', () => process.exit());
