/** Many targets that are well, and none besides. */

import type { TargetView } from '../../../../shared/api/schema/target-schema.ts';
import { sleep, systemClock } from '../../../../shared/lib/clock.ts';
import { inLanes } from '../../../support/lanes.ts';
import { until } from '../../../support/wait.ts';
import { answered } from '../../api.ts';
import { conditionOf } from '../../stage.ts';
import { type Cloud, pathOf, register } from '../cloud.ts';
import { type WebServer, webServer } from '../servers.ts';

export const namespace = 'fleet';
export const fleetTargets = 200;
export const fleetPeriodSeconds = 10;

/** The emulator runs a process for each request at the same time. */
const lanes = 4;
const goneMs = 30_000;
const readyMs = 60_000;
/** The timekeeper's last look at a target comes 10 s after its last change. */
const quietMs = 15_000;

export async function openFleet(cloud: Cloud): Promise<WebServer> {
  await removeAll(cloud);
  const server = await webServer();
  cloud.use(server.stop);
  const readinessProbe = { httpGet: { path: '/ready', port: server.port }, periodSeconds: fleetPeriodSeconds };
  const names = Array.from({ length: fleetTargets }, (_, at) => `fleet-${at}`);
  await inLanes(names, lanes, (name) => register(cloud, { namespace, name }, { readinessProbe }));
  const ready = (views: readonly TargetView[]) => views.filter((view) => conditionOf(view, 'Ready')?.status === 'True');
  await until('all of the fleet are ready', readyMs, async () => ready(await listed(cloud)).length === fleetTargets);
  await quiet(cloud);
  return server;
}

/** Whatever there is. */
async function removeAll(cloud: Cloud): Promise<void> {
  await inLanes(await listed(cloud), lanes, async ({ metadata }) => {
    await cloud.api('DELETE', `${pathOf(metadata.namespace, metadata.name)}?gracePeriodSeconds=0`);
  });
  await until('no target is left', goneMs, async () => (await listed(cloud)).length === 0);
}

async function listed({ api }: Cloud): Promise<readonly TargetView[]> {
  return ((await answered(api, 200, ['GET', '/v1/targets?limit=500'])) as { readonly items: readonly TargetView[] })
    .items;
}

async function quiet({ inbox }: Cloud): Promise<void> {
  for (let count = -1; count !== inbox.received.length; ) {
    count = inbox.received.length;
    await sleep(systemClock, quietMs);
  }
}
