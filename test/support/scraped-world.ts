/** What `/metrics` of one process has while it holds a target that is down, with and without series of each target. */
import { sleep } from '../../shared/lib/clock.ts';
import { startInjectedWorld } from '../e2e/injected-world.ts';

export async function scrapedWorld(targetMetrics: boolean): Promise<string> {
  const world = startInjectedWorld({ targetMetrics });
  await world.play(sleep(world.clock, 2_000));
  const probe = { tcpSocket: { port: 9 }, periodSeconds: 5 };
  const spec = { host: '127.0.0.1', readinessProbe: probe, livenessProbe: probe, startupProbe: probe };
  await world.play(world.api('PUT', '/v1/namespaces/default/targets/down', { spec }));
  await world.play(sleep(world.clock, 30_000));
  const response = await world.runtime.fetch(new Request('http://127.0.0.1/metrics'));
  const text = await response.text();
  await world.stop();
  return text;
}
