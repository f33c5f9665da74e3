/** The prober of `hanging.ts`: the whole product in a process with few descriptors. A message names its targets. */
import { dialPolicy } from '../../../shared/net/policy.ts';
import { register } from '../../support/api-client.ts';
import { watchStandstills } from '../../support/standstill.ts';
import { obey, startInMemory } from './in-memory.ts';

export type Orders = {
  readonly ports: { readonly healthy: number; readonly hanging: number };
  readonly healthy: number;
  /** Healthy targets with a host name, which every probe resolves. */
  readonly named?: number;
  readonly hanging: number;
  /** Names whose DNS server never answers. */
  readonly dead: number;
  readonly periodSeconds: number;
  readonly timeoutSeconds: number;
};

const [, , dnsServer = ''] = process.argv;
const network = { policy: dialPolicy({ mode: 'local' }), dnsServers: [dnsServer] };
const { runtime, log } = await startInMemory({ network });
const standstills = watchStandstills();

type Registered = { readonly port: number; readonly host?: (name: string) => string; readonly path?: '/' };

async function registerAll({ ports, periodSeconds, timeoutSeconds, named = 0, ...counts }: Orders): Promise<void> {
  /** So many of this kind. The default path of each is its name. */
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

obey(registerAll, () => {
  const { probes = 0, inFlight = 0, beat } = runtime.shard.view() ?? {};
  // Without a free descriptor even this throws.
  process.memoryUsage();
  const errors = log.lines.filter(({ level }) => level === 'error');
  return { probes, inFlight, doubt: beat?.doubt, errors, standstills: standstills() };
});
