/** The steps, in the order in which they are played. */
import assert from 'node:assert/strict';
import type { Runner } from './runner.ts';
import { triggeredByHand, updatedInPlace } from './steps/change.ts';
import { deployAll, type Use } from './steps/deploy.ts';
import { destroyed } from './steps/destroy.ts';
import { fleetTargets, openFleet } from './steps/fleet.ts';
import { measureFlips } from './steps/flips.ts';
import { proberKilled } from './steps/kill.ts';
import { serverComesBack, serverStops } from './steps/outage.ts';
import { redeployed } from './steps/redeploy.ts';
import { deleted, desiredApplied, terminated } from './steps/remove.ts';
import { allReady, openShop, shown } from './steps/shop.ts';
import { markOf, measureSteady } from './steps/steady.ts';
import { syncsStop } from './steps/syncs-stop.ts';

const disabled = 'status-sync is disabled for a while';

/** `isFull`: with what takes minutes. */
type Options = { readonly use: Use; readonly minutes: number; readonly isFull: boolean };

export async function play(runner: Runner, { use, minutes, isFull }: Options): Promise<void> {
  const { step, tried, measured } = runner;
  const cloud = await deployAll(runner, use);
  const shop = await step('registers targets of HTTP, TCP and gRPC', () => openShop(cloud));
  await step('all are ready, and the subscriber heard of it', () => allReady(cloud));
  await tried('the command line shows them', () => shown(cloud));
  await tried('a server stops: unready, then a restart is asked for', () => serverStops(cloud, shop));
  await tried('it comes back, and its restart is reported', () => serverComesBack(cloud, shop));
  await tried('a target is updated in place', () => updatedInPlace(cloud, shop));
  await tried('a target is probed by hand', () => triggeredByHand(cloud, shop));
  if (isFull) await measured(disabled, () => syncsStop(cloud, shop));
  await tried('a target terminates', () => terminated(cloud));
  await tried('a target is deleted', () => deleted(cloud));
  await tried('the desired set is applied', () => desiredApplied(cloud, shop));
  await measured('another release is deployed', () => redeployed(cloud, shop));
  await measured('targets go down and up', () => measureFlips(cloud));
  const fleet = await step(`${fleetTargets} targets and no others`, () => openFleet(cloud));
  const since = markOf(cloud);
  await measured('the prober is killed', () => proberKilled(cloud, fleet));
  await measured(`${minutes} min of steady targets`, () => measureSteady(cloud, { since, minutes }));
  await tried('no function was refused anything', async () => assert.deepEqual(cloud.emulator.guard.refused, []));
  await step('cdk destroy, and nothing is left', () => destroyed(cloud, fleet));
}

export async function playSyncsStop(runner: Runner, use: Use): Promise<void> {
  const { step, measured } = runner;
  const cloud = await deployAll(runner, use);
  const shop = await step('registers targets of HTTP, TCP and gRPC', () => openShop(cloud));
  await step('all are ready, and the subscriber heard of it', () => allReady(cloud));
  await measured(disabled, () => syncsStop(cloud, shop));
}
