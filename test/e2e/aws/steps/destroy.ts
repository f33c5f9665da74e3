/** Everything is removed by `cdk destroy`, while it works. */

import { pause, until } from '../../../support/wait.ts';
import { type Cloud, probeletApp, subscriberApp } from '../cloud.ts';
import type { WebServer } from '../servers.ts';
import { inventory, requireAll, requireNone } from './inventory.ts';

/** The emulator lets the process live; a run without a table and a queue ends by itself, 12 s after its last beat. */
const endedMs = 20_000;
/** In which a fleet is probed many times. */
const silenceMs = 3_000;

/** `seen`: what is probed until then. */
export async function destroyed(cloud: Cloud, { seen }: Pick<WebServer, 'seen'>): Promise<void> {
  const { send, cdk, emulator, bus, inbox } = cloud;
  const look = () => inventory({ send, urlOf: () => emulator.endpoint }, { bus });
  requireAll(await look());
  await until('targets are probed', silenceMs, () => (seen.at(-1)?.atMs ?? 0) > Date.now() - silenceMs);
  await inbox.stop();
  await cdk.destroy(subscriberApp(bus));
  await cdk.destroy(probeletApp());
  requireNone(await look());
  await until('nothing is probed any more', endedMs, async () => {
    const before = seen.length;
    await pause(silenceMs);
    return seen.length === before;
  });
}
