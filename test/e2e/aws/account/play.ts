/**
 * The steps of `npm run e2e -- --aws`: what two deployments do in an account of AWS, and what they refuse. All that
 * they make is removed again, whatever fails.
 */
import type { Runner } from '../runner.ts';
import type { Use } from '../steps/deploy.ts';
import { type Deployed, deployInto, stacks } from './deployed.ts';
import {
  neighbourIsRefused,
  publisher,
  publisherIsRefused,
  readerIsRefused,
  strangerIsRefused,
  unsignedIsRefused,
} from './refusals.ts';
import { requireAccount, requireNoStacks, type Site } from './site.ts';
import { comesBack, fails, getReady, heldApart, isDeleted } from './target.ts';

export async function playAccount(runner: Runner, site: Site, use: Use): Promise<void> {
  const { step, tried } = runner;
  use(site.stop);
  await step('the credentials are of the account that was named', () => requireAccount(site));
  await step('no stack of these names is there', () => requireNoStacks(site, Object.values(stacks)));
  const deployed = await deployInto(runner, site, use);
  await tried('the APIs refuse who does not sign, but for their health', () => unsignedIsRefused(deployed));
  await tried('a role without a grant is refused by API and bus', () => strangerIsRefused(deployed));
  await tried('a role that may read may not register', () => readerIsRefused(deployed));
  await tried('a role that may register is refused by the other deployment', () => neighbourIsRefused(deployed));
  await published(runner, deployed);
  await step('one name in two deployments: each has its own verdict', () => getReady(deployed));
  await tried('each is held by its own prober, and publishes on its own bus', () => heldApart(deployed));
  await tried('one is removed, and the other works on', () => deployed.neighbour.remove());
  await tried('its server fails: unready, then a restart is asked for', () => fails(deployed));
  await tried('it comes back', () => comesBack(deployed));
  await tried('it is deleted', () => isDeleted(deployed));
}

async function published({ tried, skipped }: Runner, deployed: Deployed): Promise<void> {
  await tried('another role may publish on the bus as itself', () => publisher(deployed));
  const refused = 'another role may not publish as probelet';
  if (deployed.site.endpoint === undefined) await tried(refused, () => publisherIsRefused(deployed));
  else
    for (const [name, why] of [[refused, 'it knows no policy of a bus'], ...beyondEmulator] as const)
      skipped(name, why);
}

/** What is not seen on an emulator, and why. */
const beyondEmulator = [
  [
    'the functions may do what their roles allow',
    'it knows no condition on an event’s source; `npm run e2e` checks them',
  ],
  ['probes by TLS of a public address', 'its functions answer by HTTP on this machine'],
  ['the events have schemas', 'it knows no registry of schemas'],
  ['the log group of a prober is removed', 'the process runs on, and the group is made again'],
] as const;
