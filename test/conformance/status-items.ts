/** The STATUS items of the pods of a vector: each status is written as status-sync writes it, and read back. */
import type { PodStatus } from '../../shared/core/types.ts';
import { writeStatus } from '../../shared/status-sync/write-status.ts';
import { decodeStatus, encodeStatus } from '../../shared/store/items.ts';
import { statusKey, targetAddress } from '../../shared/store/keys.ts';
import { targetRecordOf } from '../support/pods.ts';
import { shardWorld } from '../support/shard-world.ts';
import type { CachedStatus } from './status-manager-model.ts';

export function statusItems() {
  const world = shardWorld();
  let tokens = 0;

  async function read(podName: string) {
    const item = await world.store.get(statusKey(targetAddress('default', podName)));
    const decoded = item && decodeStatus(item);
    if (decoded?.kind !== 'ok') throw new Error(`no STATUS item of ${podName}: ${JSON.stringify(decoded)}`);
    return decoded.record;
  }

  return {
    /** `before`: the version that the next status replaces; 0: there is none, and the item of an earlier one is not there any more. */
    async write(podName: string, uid: string, before: PodStatus, cached: CachedStatus): Promise<void> {
      const address = targetAddress('default', podName);
      const target = targetRecordOf({ uid, name: podName });
      const blank = { uid, version: 0, observedResourceVersion: 1, observedReportVersion: 0 };
      if (cached.version === 1) {
        const first = { ...blank, status: before, restartRequests: {}, acked: {}, outbox: [] };
        tokens += 1;
        await world.store.write([{ kind: 'put', item: encodeStatus(address, first) }], { token: `blank ${tokens}` });
      }
      const status = await read(podName);
      const record = { ...status, version: cached.version, status: cached.status };
      const plan = { kind: 'write', record, publish: [], acked: {}, events: [], published: new Set<string>() } as const;
      const ports = { ...world.ports() };
      const outcome = await world.clock.runUntil(writeStatus(ports, { address, target, status, probes: {} }, plan));
      if (outcome !== 'written') throw new Error(`the STATUS of ${podName} is ${outcome}`);
    },
    read,
  };
}
