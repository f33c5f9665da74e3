/** What the steps in an account use: two deployments side by side, a subscriber of the first one, a server, roles. */
import type { Api } from '../../api.ts';
import { type App, type Cdk, cdkCli } from '../cdk.ts';
import { pathOf, probeletApp, subscriberApp } from '../cloud.ts';
import { type Inbox, readInbox } from '../inbox.ts';
import { deployedApi } from '../requests.ts';
import type { Runner } from '../runner.ts';
import { apiUrl, type Use } from '../steps/deploy.ts';
import { requireListed, requireNothingLeft } from './leftovers.ts';
import type { Site } from './site.ts';

export const namespace = 'shop';
export const name = 'web';
/** In each of the two. */
export const path = pathOf(namespace, name);

export const stacks = {
  probelet: 'Probelet',
  neighbour: 'ProbeletNeighbour',
  subscriber: 'Subscriber',
  shop: 'ProbeletShop',
} as const;

/** Within which what has changed is seen. */
export const noticedMs = 60_000;
/** A right of a role that has just been made is not known everywhere at once. */
export const rightsMs = 60_000;

export type Outputs = Readonly<Record<string, string>>;

export type Deployed = {
  readonly site: Site;
  readonly bus: string;
  /** Of the API. */
  readonly url: string;
  readonly shop: Outputs;
  readonly inbox: Inbox;
  /** As the role that may register. */
  readonly api: Api;
  readonly neighbour: { readonly url: string; readonly api: Api; remove(): Promise<void> };
};

/** The first props are those of the emulator, the second ones of an account. */
const propsOf = ({ endpoint }: Site, stage: string) => (endpoint === undefined ? { stage, allowLoopback: false } : {});

const neighbourApp = (site: Site): App => {
  const { context } = probeletApp({ ...propsOf(site, 'e2e-neighbour'), memorySize: 320, dashboard: false });
  const command = 'node test/e2e/aws/account/neighbour/app.ts';
  return { stack: stacks.neighbour, command, context: { props: context.probelet ?? '{}' } };
};

const shopApp = (context: App['context']): App => ({
  stack: stacks.shop,
  command: 'node test/e2e/aws/account/shop/app.ts',
  context,
});

export async function deployInto(runner: Runner, site: Site, use: Use): Promise<Deployed> {
  const { step } = runner;
  const cdk = cdkCli(site.place);
  use(cdk.stop);
  const apps: App[] = [];
  use(() => removeAll({ runner, site, cdk }, apps));
  const deploy = (app: App): Promise<Outputs> => {
    // Before it is there: a deployment that fails leaves things, too.
    apps.push(app);
    return cdk.deploy(app);
  };
  const neighbour = neighbourApp(site);
  await step('cdk bootstrap', cdk.bootstrap);
  const [own, others] = await step('cdk deploy: two probelets of two apps at the same time', () =>
    together([deploy(probeletApp(propsOf(site, 'e2e'))), deploy(neighbour)]),
  );
  const [url, otherUrl] = [urlOf(site, own), urlOf(site, others)];
  const { BusName: bus = '' } = own;
  const roles = { bus, apiId: idOf(own), neighbourApiId: idOf(others) };
  const [subscriber, shop] = await step('cdk deploy: a subscriber of one of them; a server, and roles', () =>
    together([deploy(subscriberApp(bus)), deploy(shopApp(roles))]),
  );
  await step('all kinds of what they are made of are listed', () => requireListed(site));
  const inbox = readInbox(site.client, subscriber.InboxUrl ?? '');
  use(inbox.stop);
  const [owner, other] = await step('the roles that may register are assumed', () =>
    together([site.as(shop.OwnerArn ?? ''), site.as(shop.NeighbourArn ?? '')]),
  );
  return {
    ...{ site, bus, url, shop, inbox, api: deployedApi(owner, url) },
    neighbour: { url: otherUrl, api: deployedApi(other, otherUrl), remove: () => cdk.destroy(neighbour) },
  };
}

/** The first failure is thrown when none is going on any more. */
async function together<First, Second>(both: readonly [Promise<First>, Promise<Second>]): Promise<[First, Second]> {
  await Promise.allSettled(both);
  return Promise.all(both);
}

const idOf = ({ ApiUrl = '' }: Outputs): string => new URL(ApiUrl).hostname.split('.')[0] ?? '';

const urlOf = ({ endpoint }: Site, { ApiUrl = '' }: Outputs): string =>
  endpoint === undefined ? ApiUrl.replace(/\/$/, '') : apiUrl(endpoint, ApiUrl);

type Made = { readonly runner: Runner; readonly site: Site; readonly cdk: Cdk };

/** A bus cannot be removed while a rule is on it, so its subscriber goes first. */
async function removeAll({ runner, site, cdk }: Made, apps: readonly App[]): Promise<void> {
  cdk.interrupt();
  const isProbelet = ({ stack }: App) => stack === stacks.probelet || stack === stacks.neighbour;
  const groups = [apps.filter((app) => !isProbelet(app)), apps.filter(isProbelet)];
  for (const group of groups.filter(({ length }) => length > 0))
    await runner.cleanUp(`cdk destroy: ${group.map(({ stack }) => stack).join(', ')}`, async () => {
      const ended = await Promise.allSettled(group.map(cdk.destroy));
      for (const each of ended) if (each.status === 'rejected') throw each.reason;
    });
  if (apps.length > 0) await runner.cleanUp('nothing is left', () => requireNothingLeft(site));
}
