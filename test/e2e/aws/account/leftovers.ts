/** What the stacks have made in the account, while they are there and when they are removed. */
import { until } from '../../../support/wait.ts';
import { type Inventory, inventory, requireAll } from '../steps/inventory.ts';
import type { Site } from './site.ts';

/** AWS lists some things for a minute after they have been removed. */
const listed = { withinMs: 120_000, pollMs: 5_000 };

/** Names of what these stacks are made of; the account may have others. */
const isOurs = (name: string): boolean => /\b(Probelet|Subscriber|probelet-)/.test(name);

export const requireListed = async (site: Site): Promise<void> => requireAll(await inventory(site, { isOurs }));

/** An emulator's prober runs on for a while, and the emulator makes the log group again for what it says at its end. */
const isOfLateRun = (name: string): boolean => /ProberFleetProberLogs/.test(name);

export async function requireNothingLeft(site: Site): Promise<void> {
  const isLeft = (name: string) => isOurs(name) && (site.endpoint === undefined || !isOfLateRun(name));
  let left: Inventory = {};
  await until(
    () => `nothing of ${JSON.stringify(left)}`,
    listed,
    async () => {
      const found = Object.entries(await inventory(site, { isOurs: isLeft })).filter(([, names]) => names.length > 0);
      left = Object.fromEntries(found);
      return found.length === 0;
    },
  );
}
