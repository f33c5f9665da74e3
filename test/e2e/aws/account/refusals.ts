/** Who is refused what, by the API and by the bus. */
import assert from 'node:assert/strict';
import { until } from '../../../support/wait.ts';
import { answered } from '../../api.ts';
import { deployedApi, type Send } from '../requests.ts';
import { type Deployed, path, rightsMs } from './deployed.ts';
import type { Site } from './site.ts';

export async function unsignedIsRefused({ url, neighbour }: Deployed): Promise<void> {
  for (const each of [url, neighbour.url]) {
    for (const route of ['/v1/targets', '/openapi.json']) assert.equal((await fetch(each + route)).status, 403, route);
    assert.equal((await fetch(`${each}/healthz`)).status, 200);
  }
}

export async function strangerIsRefused({ site, url, bus, shop }: Deployed): Promise<void> {
  const send = await site.as(shop.StrangerArn ?? '');
  const api = deployedApi(send, url);
  for (const request of [
    ['GET', '/v1/targets'],
    ['GET', path],
    ['PUT', path, {}],
  ] as const)
    await answered(api, 403, [...request]);
  for (const source of ['probelet', 'shop'])
    assert.equal(await published(send, site, { bus, source }), false, `an event of ${source} was taken`);
}

export async function readerIsRefused({ site, url, shop }: Deployed): Promise<void> {
  const api = deployedApi(await site.as(shop.ReaderArn ?? ''), url);
  await until('its rights are known', rightsMs, async () => (await api('GET', '/v1/targets')).status === 200);
  for (const request of [
    ['PUT', path, {}],
    ['DELETE', path],
    ['POST', `${path}/probe`],
  ] as const)
    await answered(api, 403, [...request]);
}

/** Who may register at one of two deployments has no rights at the other. */
export async function neighbourIsRefused({ site, url, shop, neighbour }: Deployed): Promise<void> {
  const [owner, other] = [await site.as(shop.OwnerArn ?? ''), await site.as(shop.NeighbourArn ?? '')];
  for (const api of [deployedApi(owner, neighbour.url), deployedApi(other, url)]) {
    await answered(api, 403, ['GET', '/v1/targets']);
    await answered(api, 403, ['PUT', path, {}]);
  }
}

export async function publisherIsRefused({ site, bus, shop }: Deployed): Promise<void> {
  const isTaken = await publisher({ site, bus, shop });
  assert.equal(await isTaken('probelet'), false, 'an event of probelet by another role was taken');
}

/** Whether an event of a source is taken of the role that may publish on the bus, which is known by now. */
export async function publisher({ site, bus, shop }: Pick<Deployed, 'site' | 'bus' | 'shop'>) {
  const send = await site.as(shop.PublisherArn ?? '');
  const isTaken = (source: string) => published(send, site, { bus, source });
  await until('it may publish as itself', rightsMs, () => isTaken('shop'));
  return isTaken;
}

type Event = { readonly bus: string; readonly source: string };

async function published(send: Send, { urlOf }: Site, { bus, source }: Event): Promise<boolean> {
  const entry = { EventBusName: bus, Source: source, DetailType: 'Target Status Changed', Detail: '{}' };
  const headers = { 'content-type': 'application/x-amz-json-1.1', 'x-amz-target': 'AWSEvents.PutEvents' };
  const body = JSON.stringify({ Entries: [entry] });
  const { status, text } = await send({ service: 'events', method: 'POST', url: `${urlOf('events')}/`, headers, body });
  return status === 200 && JSON.parse(text).FailedEntryCount === 0;
}
