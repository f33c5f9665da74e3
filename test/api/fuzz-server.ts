/**
 * The server that is fuzzed: `npm start`'s runtime, which dials loopback only and asks no real DNS server, because a
 * fuzzer registers any host.
 */
import type { AddressInfo } from 'node:net';
import { startRuntime } from '../../functions/local/process/runtime.ts';
import { apiServer } from '../../functions/local/server/api-server.ts';
import { systemClock } from '../../shared/lib/clock.ts';
import { systemRandom } from '../../shared/lib/random.ts';

const noListener = '127.0.0.1:9';
const log = {
  info: () => {},
  warn: (message: string, fields: unknown) => console.error('warn', message, fields),
  error: (message: string, fields: unknown) => console.error('error', message, fields),
};
const runtime = startRuntime(
  { dataDir: ':memory:' },
  {
    clock: systemClock,
    random: systemRandom,
    log,
    network: { policy: (address) => address.startsWith('127.') || address === '::1', dnsServers: [noListener] },
  },
);
await runtime.shard.loaded;
/** Short, because many of the requests never end. */
const timeouts = { headersTimeout: 500, requestTimeout: 500, keepAliveTimeout: 500, connectionsCheckingInterval: 100 };
const server = apiServer(runtime.fetch, { hostname: '127.0.0.1', connectionsMax: 100, log, timeouts });
server.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${(server.address() as AddressInfo).port}`));
