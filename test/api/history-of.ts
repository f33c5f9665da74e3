/** What becomes of a target that has one name in every place. */
import { syncTarget } from '../../shared/status-sync/sync.ts';
import { encodeProbe } from '../../shared/store/records/items.ts';
import { targetAddress } from '../../shared/store/records/keys.ts';
import { targetPath } from '../support/api-client.ts';
import { seededRandom } from '../support/seeded-random.ts';
import { apiWorld, startMs, type World } from './world.ts';

/** Computed, or a literal would set the prototype. */
export const member = (name: string, value: unknown) => ({ [name]: value });

/** All that is stored and shown of a target that restarts once, is reported on, triggered and taken away. */
export async function historyOf(name: string, lifecycle: 'static' | 'reported'): Promise<unknown> {
  const world = apiWorld({ random: seededRandom(1) });
  const ports = { store: world.store, bus: world.bus, clock: world.clock, random: seededRandom(2), log: world.log };
  const address = { namespace: name, name };
  const at = targetPath(name, name);
  const seen: unknown[] = [];
  const request = async (method: string, where: string, sent?: unknown) => {
    const { status, body } = await world.ask(method, where, sent);
    seen.push([method, where, status, body]);
  };
  const sync = async () => seen.push(await syncTarget(ports, address), await world.items(name, name), world.published);
  const probe = { tcpSocket: { port: name }, failureThreshold: 1 };
  const container = {
    name,
    ports: [{ name: name.slice(0, 15), containerPort: 80 }],
    env: [{ name, value: `$(${name}) $(toString)` }],
    livenessProbe: { ...probe, tcpSocket: { port: name.slice(0, 15) } },
    readinessProbe: { exec: { command: [`$(${name})`] } },
  };
  const spec = { host: '127.0.0.1', lifecycle, readinessGates: [{ conditionType: name }], containers: [container] };
  const before = { ...spec, readinessGates: [], containers: [{ name: 'first' }] };
  await request('PUT', at, { spec: before });
  await sync();
  await request('PUT', at, { spec, metadata: { labels: member(name, name) } });
  await sync();
  if (lifecycle === 'reported') {
    const state = { running: { startedAt: '2026-01-01T11:59:00Z' } };
    const conditions = [{ type: name, status: 'True' }];
    await request('PUT', `${at}/status`, {
      status: { containerStatuses: [{ name, containerID: 'a://1', state }], conditions },
    });
    await sync();
  }
  await failLiveness(world, address);
  for (const laterMs of [0, 11_000, 11_000]) {
    world.advance(laterMs);
    await sync();
    await failLiveness(world, address);
  }
  await request('POST', `${at}/probe`, { container: name, probeType: 'liveness' });
  await request('GET', `/v1/namespaces/${name}/targets`);
  await request('GET', `${at}/events`);
  await request('PUT', `/v1/namespaces/${name}/desired`, { names: [name] });
  await request('PATCH', at, { spec: { containers: [{ name: `${name}-2` }, { name }] } });
  await sync();
  await request('PUT', `/v1/namespaces/${name}/desired`, { names: [] });
  world.advance(60_000);
  await sync();
  return { seen, errors: world.log.lines.filter(({ level }) => level === 'error'), poison: world.poison };
}

/** As the prober commits it, of the container that runs now. */
async function failLiveness(world: World, { namespace, name }: { readonly namespace: string; readonly name: string }) {
  const items = await world.items(name, namespace);
  const status = items.find(({ kind }) => kind === 'STATUS') as unknown as {
    readonly uid: string;
    readonly status: { readonly containerStatuses: readonly { readonly containerID: string }[] };
  };
  const containerID = status.status.containerStatuses[0]?.containerID ?? '';
  const probe = { uid: status.uid, container: name, probeType: 'liveness', containerID, result: 'failure' } as const;
  const counts = { version: 1, streak: 1, resultRun: 1, onHold: true, ended: false, specDigest: '', output: '' };
  await world.put(encodeProbe(targetAddress(namespace, name), { ...probe, ...counts, sinceMs: startMs }));
}
