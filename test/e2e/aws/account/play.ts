/**
 * The steps of `npm run e2e -- --aws`: what a deployment does in an account of AWS, and what it refuses. All that they
 * make is removed again, whatever fails.
 */
import assert from 'node:assert/strict';
import type { TargetSpecInput } from '../../../../shared/core/spec-input.ts';
import { until } from '../../../support/wait.ts';
import { type Api, answered } from '../../api.ts';
import { conditionOf } from '../../stage.ts';
import { type App, cdkCli } from '../cdk.ts';
import { pathOf, probeletApp, receivedOf, subscriberApp } from '../cloud.ts';
import { type Inbox, readInbox } from '../inbox.ts';
import { deployedApi, type Send } from '../requests.ts';
import type { Runner } from '../runner.ts';
import { apiUrl, type Use } from '../steps/deploy.ts';
import { isReadyIn } from '../steps/shop.ts';
import { requireAccount, requireNoStacks, type Site } from './site.ts';

type Outputs = Readonly<Record<string, string>>;

type Deployed = {
  readonly site: Site;
  readonly bus: string;
  /** Of the API. */
  readonly url: string;
  readonly shop: Outputs;
  readonly inbox: Inbox;
  /** As the role that may register. */
  readonly api: Api;
};

const namespace = 'shop';
const name = 'web';
const path = pathOf(namespace, name);

/** A schedule looks once a minute, and a function starts. */
const firstMs = 180_000;
const noticedMs = 60_000;
/** Rights of a role that has just been made. */
const rightsMs = 60_000;

export async function playAccount(runner: Runner, site: Site, use: Use): Promise<void> {
  const { step, tried } = runner;
  use(site.stop);
  await step('the credentials are of the account that was named', () => requireAccount(site));
  const stacks = ['Probelet', 'Subscriber', 'ProbeletShop'];
  await step('no stack of these names is there', () => requireNoStacks(site, stacks));
  const deployed = await deployInto(runner, site, use);
  await tried('the API refuses who does not sign, but for its health', () => unsignedIsRefused(deployed));
  await tried('a role without a grant is refused', () => strangerIsRefused(deployed));
  await tried('a role that may read may not register', () => readerIsRefused(deployed));
  if (site.endpoint === undefined)
    await tried('another role may publish on the bus, but not as probelet', () => publisherIsRefused(deployed));
  await step('a target by HTTPS and TCP is ready, and the subscriber heard of it', () => getsReady(deployed));
  await tried('its server fails: unready, then a restart is asked for', () => fails(deployed));
  await tried('it comes back', () => comesBack(deployed));
  await tried('it is deleted', () => isDeleted(deployed));
}

async function deployInto({ step }: Runner, site: Site, use: Use): Promise<Deployed> {
  const { place, endpoint, client } = site;
  const cdk = cdkCli(place);
  use(cdk.stop);
  const deploy = (what: string, app: App) =>
    step(`cdk deploy: ${what}`, () => {
      // Before it is there: a deployment that fails leaves things, too.
      use(() => step(`cdk destroy: ${what}`, () => cdk.destroy(app)));
      return cdk.deploy(app);
    });
  await step('cdk bootstrap', cdk.bootstrap);
  const own = endpoint === undefined ? { stage: 'e2e', allowLoopback: false } : {};
  const { BusName: bus = '', ApiUrl = '' } = await deploy('probelet', probeletApp(own));
  const [apiId = ''] = new URL(ApiUrl).hostname.split('.');
  const url = endpoint === undefined ? ApiUrl.replace(/\/$/, '') : apiUrl(endpoint, ApiUrl);
  const { InboxUrl = '' } = await deploy('a subscriber', subscriberApp(bus));
  const shopApp = {
    stack: 'ProbeletShop',
    command: 'node test/e2e/aws/account/shop/app.ts',
    context: { apiId, bus },
  };
  const shop = await deploy('a server, and roles', shopApp);
  const inbox = readInbox(client, InboxUrl);
  use(inbox.stop);
  const owner = await step('the role that may register is assumed', () => site.as(shop.OwnerArn ?? ''));
  return { site, bus, url, shop, inbox, api: deployedApi(owner, url) };
}

async function unsignedIsRefused({ url }: Deployed): Promise<void> {
  for (const each of ['/v1/targets', '/openapi.json']) assert.equal((await fetch(url + each)).status, 403, each);
  assert.equal((await fetch(`${url}/healthz`)).status, 200);
}

async function strangerIsRefused({ site, url, shop }: Deployed): Promise<void> {
  const api = deployedApi(await site.as(shop.StrangerArn ?? ''), url);
  for (const request of [
    ['GET', '/v1/targets'],
    ['GET', path],
    ['PUT', path, {}],
  ] as const)
    await answered(api, 403, [...request]);
}

async function readerIsRefused({ site, url, shop }: Deployed): Promise<void> {
  const api = deployedApi(await site.as(shop.ReaderArn ?? ''), url);
  await until('its rights are known', rightsMs, async () => (await api('GET', '/v1/targets')).status === 200);
  for (const request of [
    ['PUT', path, {}],
    ['DELETE', path],
    ['POST', `${path}/probe`],
  ] as const)
    await answered(api, 403, [...request]);
}

async function publisherIsRefused({ site, bus, shop }: Deployed): Promise<void> {
  const send = await site.as(shop.PublisherArn ?? '');
  const isTaken = (source: string) => published(send, site, { bus, source });
  await until('it may publish as itself', rightsMs, () => isTaken('shop'));
  assert.equal(await isTaken('probelet'), false, 'an event of probelet by another role was taken');
}

type Event = { readonly bus: string; readonly source: string };

async function published(send: Send, { urlOf }: Site, { bus, source }: Event): Promise<boolean> {
  const entry = { EventBusName: bus, Source: source, DetailType: 'Target Status Changed', Detail: '{}' };
  const headers = { 'content-type': 'application/x-amz-json-1.1', 'x-amz-target': 'AWSEvents.PutEvents' };
  const body = JSON.stringify({ Entries: [entry] });
  const { status, text } = await send({ service: 'events', method: 'POST', url: `${urlOf('events')}/`, headers, body });
  return status === 200 && JSON.parse(text).FailedEntryCount === 0;
}

/** On the emulator a function's URL is a path below its own address. */
function specOf({ site: { endpoint }, shop }: Deployed): TargetSpecInput {
  const { hostname } = new URL(shop.Url ?? '');
  const [id] = hostname.split('.');
  const own = endpoint === undefined ? undefined : new URL(endpoint);
  const port = own ? Number(own.port) : 443;
  const httpGet = own
    ? { path: `/_aws/lambda-url/${id}/`, port, scheme: 'HTTP' as const }
    : { path: '/', port, scheme: 'HTTPS' as const };
  const app = {
    name: 'app',
    readinessProbe: { httpGet, periodSeconds: 2, failureThreshold: 2, timeoutSeconds: 3 },
    livenessProbe: { httpGet, periodSeconds: 2, failureThreshold: 4, timeoutSeconds: 3 },
  };
  const socket = { name: 'socket', readinessProbe: { tcpSocket: { port }, periodSeconds: 5 } };
  return { host: own?.hostname ?? hostname, containers: [app, socket] };
}

async function getsReady(deployed: Deployed): Promise<void> {
  const { api, inbox } = deployed;
  await until('the right to register is known', rightsMs, async () => (await api('GET', '/v1/targets')).status === 200);
  await answered(api, 201, ['PUT', path, { spec: specOf(deployed) }]);
  await untilReady(deployed, 'True', firstMs);
  await until('the subscriber hears of it', noticedMs, () =>
    receivedOf({ inbox }, 'Target Status Changed', name).some(({ event }) => isReadyIn(event.detail.newStatus)),
  );
}

/** A function without concurrency answers 429. */
async function fails(deployed: Deployed): Promise<void> {
  const { inbox } = deployed;
  await concurrency(deployed, 'PUT', { ReservedConcurrentExecutions: 0 });
  await untilReady(deployed, 'False', noticedMs);
  const asked = await until('the subscriber is asked for a restart', noticedMs, () =>
    receivedOf({ inbox }, 'Container Restart Requested', name).at(0),
  );
  assert.deepEqual([asked.event.detail.container, asked.event.detail.probeType], ['app', 'liveness']);
}

async function comesBack(deployed: Deployed): Promise<void> {
  const { api, inbox } = deployed;
  await concurrency(deployed, 'DELETE');
  const [request] = receivedOf({ inbox }, 'Container Restart Requested', name);
  const report = { container: 'app', containerID: request?.event.detail.containerID };
  await answered(api, 200, ['POST', `${path}/restarted`, report]);
  await untilReady(deployed, 'True', noticedMs);
}

async function concurrency({ site, shop }: Deployed, method: 'PUT' | 'DELETE', body?: object): Promise<void> {
  const url = `${site.urlOf('lambda')}/2017-10-31/functions/${shop.FunctionName}/concurrency`;
  const json = body && { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
  const { status, text } = await site.send({ service: 'lambda', method, url, ...json });
  assert.ok(status < 300, text);
}

async function isDeleted({ api }: Deployed): Promise<void> {
  await answered(api, 202, ['DELETE', `${path}?gracePeriodSeconds=1`]);
  await until('it is gone', noticedMs, async () => (await api('GET', path)).status === 404);
}

const untilReady = ({ api }: Deployed, wanted: 'True' | 'False', withinMs: number): Promise<unknown> =>
  until(`Ready is ${wanted}`, withinMs, async () => {
    const { status, body } = await api('GET', path);
    return status === 200 && conditionOf(body as Parameters<typeof conditionOf>[0], 'Ready')?.status === wanted;
  });
