/** The prober of `hanging.ts`: the whole product in a process with few descriptors, told over its channel what to probe. */
import { startRuntime } from '../../../functions/local/runtime.ts';
import { systemClock } from '../../../shared/lib/clock.ts';
import { systemRandom } from '../../../shared/lib/random.ts';
import { dialPolicy } from '../../../shared/net/policy.ts';
import { recordingLog } from '../../support/recording-log.ts';

export type Orders = {
  readonly ports: { readonly healthy: number; readonly hanging: number };
  readonly healthy: number;
  /** Healthy ones that are known by name: every probe asks for it. */
  readonly named?: number;
  readonly hanging: number;
  /** Names whose DNS server never answers. */
  readonly dead: number;
  readonly periodSeconds: number;
  readonly timeoutSeconds: number;
};

const [, , dnsServer = ''] = process.argv;
const log = recordingLog();
const runtime = startRuntime(
  { dataDir: ':memory:' },
  {
    clock: systemClock,
    random: systemRandom,
    log,
    network: { policy: dialPolicy({ mode: 'local' }), dnsServers: [dnsServer] },
  },
);
await runtime.shard.loaded;

async function register(name: string, host: string, readinessProbe: object): Promise<void> {
  const request = new Request(`http://127.0.0.1/v1/namespaces/default/targets/${name}`, {
    method: 'PUT',
    body: JSON.stringify({ spec: { host, readinessProbe } }),
    headers: { 'content-type': 'application/json' },
  });
  const { status } = await runtime.fetch(request);
  if (status !== 201) throw new Error(`PUT ${name}: ${status}`);
}

async function registerAll({ ports, periodSeconds, timeoutSeconds, named = 0, ...counts }: Orders): Promise<void> {
  const timing = { periodSeconds, timeoutSeconds };
  for (let at = 0; at < counts.hanging; at += 1)
    await register(`hanging-${at}`, '127.0.0.1', { httpGet: { path: '/', port: ports.hanging }, ...timing });
  for (let at = 0; at < counts.dead; at += 1)
    await register(`dead-${at}`, `dead-${at}.test`, { httpGet: { path: '/', port: ports.healthy }, ...timing });
  for (let at = 0; at < counts.healthy; at += 1)
    await register(`healthy-${at}`, '127.0.0.1', {
      httpGet: { path: `/healthy-${at}`, port: ports.healthy },
      ...timing,
    });
  for (let at = 0; at < named; at += 1)
    await register(`named-${at}`, `named-${at}.test`, {
      httpGet: { path: `/named-${at}`, port: ports.healthy },
      ...timing,
    });
}

process.once('message', async (orders: Orders) => {
  await registerAll(orders);
  process.send?.('registered');
  process.once('message', async () => {
    const { probes = 0, inFlight = 0, beat } = runtime.shard.view() ?? {};
    // At the limit even this throws.
    process.memoryUsage();
    const errors = log.lines.filter(({ level }) => level === 'error');
    process.send?.({ probes, inFlight, doubt: beat?.doubt, errors });
    await runtime.stop();
    process.exit();
  });
});
process.send?.('ready');
