/** Targets in chosen shards, registered through the API on the table itself, without a proxy. */
import { syncedBus } from '../../../functions/local/process/status-sync.ts';
import { apiApp } from '../../../shared/api/app.ts';
import { systemClock } from '../../../shared/lib/clock.ts';
import { systemRandom } from '../../../shared/lib/random.ts';
import type { Store } from '../../../shared/store/store.ts';
import { askApi } from '../../support/api-client.ts';
import { recordingLog } from '../../support/recording-log.ts';
import type { Api } from '../api.ts';
import { type Family, type Role, register } from './cast.ts';
import { bucketIndex } from './handed.ts';
import { bucketsPerShard } from './layout-of-eight.ts';
import type { Probed } from './probed.ts';

export type Registered = { readonly store: Store; readonly probed: Probed };

/** One target of each family in each of the first `shards` shards. */
export async function registerAll(
  { store, probed }: Registered,
  { shards, families }: { readonly shards: number; readonly families: readonly Family[] },
): Promise<readonly Role[]> {
  const ports = { store, clock: systemClock, random: systemRandom, log: recordingLog() };
  const bus = syncedBus(ports);
  const app = apiApp({ ...ports, bus, health: () => ({ ok: true, quarantined: [] }) });
  const api: Api = (...request) => askApi(app, ...request);
  const roles: Role[] = [];
  for (let shard = 0; shard < shards; shard += 1)
    for (const family of families) roles.push(await register({ api, probed }, nameIn(shard, family), family));
  await bus.settled();
  return roles;
}

/** A name whose bucket is in this shard. */
function nameIn(shard: number, family: Family): string {
  for (let attempt = 0; ; attempt += 1) {
    const name = `${family}-${shard}-${attempt}`;
    if (Math.floor(bucketIndex(name) / bucketsPerShard) === shard) return name;
  }
}
