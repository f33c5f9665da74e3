/** The prober of `hanging.ts`: the whole product in a process with few descriptors, told over its channel what to probe. */
import { startRuntime } from '../../../functions/local/runtime.ts';
import { systemClock } from '../../../shared/lib/clock.ts';
import { systemRandom } from '../../../shared/lib/random.ts';
import { dialPolicy } from '../../../shared/net/policy.ts';
import { register } from '../../support/api-client.ts';
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

type Registered = { readonly port: number; readonly host?: (name: string) => string; readonly path?: '/' };

async function registerAll({ ports, periodSeconds, timeoutSeconds, named = 0, ...counts }: Orders): Promise<void> {
  /** So many of this name. The path of each is its name, unless it is told otherwise. */
  const registered = async (count: number, kind: string, { port, host = () => '127.0.0.1', path }: Registered) => {
    for (let at = 0; at < count; at += 1) {
      const name = `${kind}-${at}`;
      const httpGet = { path: path ?? `/${name}`, port };
      await register(runtime, name, { host: host(name), readinessProbe: { httpGet, periodSeconds, timeoutSeconds } });
    }
  };
  const host = (name: string) => `${name}.test`;
  await registered(counts.hanging, 'hanging', { port: ports.hanging, path: '/' });
  await registered(counts.dead, 'dead', { port: ports.healthy, host, path: '/' });
  await registered(counts.healthy, 'healthy', { port: ports.healthy });
  await registered(named, 'named', { port: ports.healthy, host });
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
