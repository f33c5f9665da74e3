/** A server goes away and comes back: what the API shows, and what the subscriber is asked for. */
import assert from 'node:assert/strict';
import { type Cloud, toldOf, untilReady, viewOf } from '../cloud.ts';
import { until } from '../wait.ts';
import { namespace, type Shop } from './shop.ts';

const place = { namespace, name: 'web' };
const noticedMs = 20_000;

export async function serverStops(cloud: Cloud, { web }: Shop): Promise<void> {
  await web.stop();
  const stoppedMs = Date.now();
  const failed = await until('the subscriber hears of the readiness failure', noticedMs, () =>
    toldOf(cloud, 'Probe Result Changed', 'web').find(
      // A new container is unready before its first probe, and that is told too.
      ({ receivedAtMs, event: { detail } }) =>
        receivedAtMs > stoppedMs && detail.probeType === 'readiness' && detail.result === 'failure',
    ),
  );
  assert.match(failed.event.detail.output ?? '', /connection refused/);
  await untilReady(cloud, place, 'False', noticedMs);
  const asked = await until('the subscriber is asked for a restart', noticedMs, () =>
    toldOf(cloud, 'Container Restart Requested', 'web').at(0),
  );
  assert.deepEqual([asked.event.detail.container, asked.event.detail.probeType], ['app', 'liveness']);
  assert.ok(asked.receivedAtMs > failed.receivedAtMs, 'five failures take longer than two');
}

export async function serverComesBack(cloud: Cloud, { web }: Shop): Promise<void> {
  await web.start();
  const { status } = await untilReady(cloud, place, 'True', noticedMs);
  const [app] = status.containerStatuses;
  assert.ok(app && app.restartCount >= 1, 'its container has been restarted');
  // Each worker begins anew when its own next probe is due.
  await until('both of its probes succeed', noticedMs, async () => {
    const probes = (await viewOf(cloud, place))?.status.probes ?? [];
    return probes.length === 2 && probes.every(({ result }) => result === 'success');
  });
}
