/** A server goes away and comes back: what the API shows, and what the subscriber is asked for. */
import assert from 'node:assert/strict';
import { until } from '../../../support/wait.ts';
import { answered } from '../../api.ts';
import { type Cloud, pathOf, receivedOf, untilReady, viewOf } from '../cloud.ts';
import { namespace, type Shop } from './shop.ts';

const place = { namespace, name: 'web' };
const noticedMs = 20_000;

export async function serverStops(cloud: Cloud, { web }: Shop): Promise<void> {
  await web.stop();
  const stoppedMs = Date.now();
  const failed = await until('the subscriber hears of the readiness failure', noticedMs, () =>
    receivedOf(cloud, 'Probe Result Changed', 'web').find(
      ({ receivedAtMs, event: { detail } }) =>
        receivedAtMs > stoppedMs && detail.probeType === 'readiness' && detail.result === 'failure',
    ),
  );
  assert.match(failed.event.detail.output ?? '', /connection refused/);
  await untilReady(cloud, place, 'False', noticedMs);
  const asked = await until('the subscriber is asked for a restart', noticedMs, () =>
    receivedOf(cloud, 'Container Restart Requested', 'web').at(0),
  );
  assert.deepEqual([asked.event.detail.container, asked.event.detail.probeType], ['app', 'liveness']);
  assert.ok(asked.receivedAtMs > failed.receivedAtMs, 'five failures take longer than two');
}

/** What a subscriber does that restarts a container: it reports the restart, and its report counts once. */
export async function serverComesBack(cloud: Cloud, { web }: Shop): Promise<void> {
  const [request] = receivedOf(cloud, 'Container Restart Requested', 'web');
  await reportRestart(cloud, request?.event.detail.containerID ?? '');
  await web.start();
  await reportRestart(cloud, request?.event.detail.containerID ?? '');
  const { status } = await until('another container is ready', noticedMs, async () => {
    const view = await viewOf(cloud, place);
    return view?.status.containerStatuses.some(({ ready, restartCount }) => ready && restartCount === 1) && view;
  });
  assert.notEqual(status.containerStatuses[0]?.containerID, request?.event.detail.containerID);
  await untilReady(cloud, place, 'True', noticedMs);
  // Each worker starts again when its next probe is due.
  await until('both of its probes succeed', noticedMs, async () => {
    const probes = (await viewOf(cloud, place))?.status.probes ?? [];
    return probes.length === 2 && probes.every(({ result }) => result === 'success');
  });
  await until('the subscriber hears of the recovery', noticedMs, () =>
    receivedOf(cloud, 'Container Recovered', 'web').find(
      ({ event }) => event.detail.containerID === status.containerStatuses[0]?.containerID,
    ),
  );
}

async function reportRestart({ api }: Cloud, containerID: string): Promise<void> {
  const report = { container: 'app', containerID };
  await answered(api, 200, ['POST', `${pathOf(namespace, place.name)}/restarted`, report]);
}
