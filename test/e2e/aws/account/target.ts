/** One target in each of two deployments: how it gets ready, fails, comes back and ends. */
import assert from 'node:assert/strict';
import type { ProberView } from '../../../../shared/api/routes/prober.ts';
import type { TargetView } from '../../../../shared/api/schema/target-schema.ts';
import type { TargetSpecInput } from '../../../../shared/core/spec/spec-input.ts';
import { until } from '../../../support/wait.ts';
import { type Api, answered } from '../../api.ts';
import { conditionOf } from '../../stage.ts';
import { receivedOf } from '../cloud.ts';
import { isReadyIn } from '../steps/shop.ts';
import { type Deployed, name, noticedMs, path, rightsMs } from './deployed.ts';

/** A schedule looks once a minute, and a function starts. */
const firstMs = 180_000;

/** At a path of its server. On the emulator a function's URL is a path below the emulator's own address. */
function specOf({ site: { endpoint }, shop }: Deployed, at: string): TargetSpecInput {
  const { hostname } = new URL(shop.Url ?? '');
  const [id] = hostname.split('.');
  const own = endpoint === undefined ? undefined : new URL(endpoint);
  const port = own ? Number(own.port) : 443;
  const httpGet = own
    ? { path: `/_aws/lambda-url/${id}/${at}`, port, scheme: 'HTTP' as const }
    : { path: `/${at}`, port, scheme: 'HTTPS' as const };
  const app = {
    name: 'app',
    readinessProbe: { httpGet, periodSeconds: 2, failureThreshold: 2, timeoutSeconds: 3 },
    livenessProbe: { httpGet, periodSeconds: 2, failureThreshold: 4, timeoutSeconds: 3 },
  };
  const socket = { name: 'socket', readinessProbe: { tcpSocket: { port }, periodSeconds: 5 } };
  return { host: own?.hostname ?? hostname, containers: [app, socket] };
}

/** The same server: the one asks for a path that is well, the other for one that is not. */
export async function getReady(deployed: Deployed): Promise<void> {
  const { api, neighbour, inbox } = deployed;
  await registered(api, specOf(deployed, ''));
  await registered(neighbour.api, specOf(deployed, 'down'));
  await Promise.all([
    untilReady(api, 'True', firstMs),
    until('the readiness of the neighbour’s is a failure', firstMs, async () =>
      (await viewOf(neighbour.api))?.status.probes.some(
        ({ container, probeType, result }) => container === 'app' && probeType === 'readiness' && result === 'failure',
      ),
    ),
  ]);
  await until('the subscriber hears of it', noticedMs, () =>
    receivedOf({ inbox }, 'Target Status Changed', name).some(({ event }) => isReadyIn(event.detail.newStatus)),
  );
}

async function registered(api: Api, spec: TargetSpecInput): Promise<void> {
  await until('the right to register is known', rightsMs, async () => (await api('GET', '/v1/targets')).status === 200);
  await answered(api, 201, ['PUT', path, { spec }]);
}

/** Their releases differ, as their props do. */
export async function heldApart({ api, neighbour, inbox }: Deployed): Promise<void> {
  const [own, others] = await Promise.all([api, neighbour.api].map(holderOf));
  assert.notEqual(own, others);
  await untilReady(api, 'True', 0);
  await untilReady(neighbour.api, 'False', 0);
  const failures = receivedOf({ inbox }, 'Probe Result Changed', name).filter(
    ({ event }) => event.detail.result === 'failure',
  );
  assert.deepEqual(failures, [], 'the neighbour’s results are not on this bus');
}

/** The release whose run holds the only target. */
async function holderOf(api: Api): Promise<string> {
  const { items } = (await answered(api, 200, ['GET', '/v1/targets'])) as { readonly items: readonly TargetView[] };
  assert.equal(items.length, 1);
  const { release, shards } = (await answered(api, 200, ['GET', '/v1/prober'])) as ProberView;
  const holders = shards.flatMap((shard) => (shard.beat === undefined ? [] : [shard.release]));
  assert.deepEqual(holders, [release.desired]);
  return holders.join();
}

/** A function without concurrency answers 429. */
export async function fails(deployed: Deployed): Promise<void> {
  const { api, inbox } = deployed;
  await concurrency(deployed, 'PUT', { ReservedConcurrentExecutions: 0 });
  await untilReady(api, 'False', noticedMs);
  const asked = await until('the subscriber is asked for a restart', noticedMs, () =>
    receivedOf({ inbox }, 'Container Restart Requested', name).at(0),
  );
  assert.deepEqual([asked.event.detail.container, asked.event.detail.probeType], ['app', 'liveness']);
}

export async function comesBack(deployed: Deployed): Promise<void> {
  const { api, inbox } = deployed;
  await concurrency(deployed, 'DELETE');
  const [request] = receivedOf({ inbox }, 'Container Restart Requested', name);
  const report = { container: 'app', containerID: request?.event.detail.containerID };
  await answered(api, 200, ['POST', `${path}/restarted`, report]);
  await untilReady(api, 'True', noticedMs);
}

async function concurrency({ site, shop }: Deployed, method: 'PUT' | 'DELETE', body?: object): Promise<void> {
  const url = `${site.urlOf('lambda')}/2017-10-31/functions/${shop.FunctionName}/concurrency`;
  const json = body && { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
  const { status, text } = await site.send({ service: 'lambda', method, url, ...json });
  assert.ok(status < 300, text);
}

export async function isDeleted({ api }: Deployed): Promise<void> {
  await answered(api, 202, ['DELETE', `${path}?gracePeriodSeconds=1`]);
  await until('it is gone', noticedMs, async () => (await viewOf(api)) === undefined);
}

/** undefined: there is none. */
async function viewOf(api: Api): Promise<TargetView | undefined> {
  const { status, body } = await api('GET', path);
  if (status === 404) return undefined;
  assert.equal(status, 200, JSON.stringify(body));
  return body as TargetView;
}

const untilReady = (api: Api, wanted: 'True' | 'False', withinMs: number): Promise<unknown> =>
  until(`Ready is ${wanted}`, withinMs, async () => {
    const view = await viewOf(api);
    return view && conditionOf(view, 'Ready')?.status === wanted;
  });
