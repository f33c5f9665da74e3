/**
 * status-sync: level-triggered, idempotent, order-safe. An event is a hint to look; everything is read again, the whole status computed
 * anew, and written on condition of the version read. Its outbox goes the safe way: write, publish, clear, ack.
 */

import type { Bus } from '../bus/bus.ts';
import type { BusEvent } from '../bus/events.ts';
import { toBusEvent } from '../bus/outbox.ts';
import type { OutboxEvent, TargetRecord } from '../core/records.ts';
import { planSync, type SyncPlan } from '../core/sync.ts';
import type { Log } from '../lib/log.ts';
import { encodeEvent, encodeStatus, updateTo } from '../store/items.ts';
import { prefixEnd, statusKey, targetAddress, targetKey } from '../store/keys.ts';
import type { Operation, Store } from '../store/store.ts';
import { withChange } from './changes.ts';
import { type ReadTarget, readTarget } from './read-target.ts';
import type { WritePorts } from './write.ts';
import { writeSurely } from './write.ts';

export type StatusSyncPorts = WritePorts & { readonly bus: Bus; readonly log: Log; readonly store: Store };

export type TargetName = { readonly namespace: string; readonly name: string };

/** `incomplete`: some event could not be published; the outbox keeps it and the holder asks again. */
export type SyncOutcome = 'settled' | 'written' | 'purged' | 'unknownTarget' | 'incomplete';

/** A status that keeps changing under us is somebody else's to settle; the holder asks again. */
const racesMax = 8;

/** @throws StoreUnavailable when the store stays out of reach; the caller delivers the event again. */
export async function syncTarget(ports: StatusSyncPorts, name: TargetName): Promise<SyncOutcome> {
  const address = targetAddress(name.namespace, name.name);
  for (let race = 0; race < racesMax; race += 1) {
    const state = await readTarget(ports.store, address);
    if (!state) return 'unknownTarget';
    const plan = planSync(state, ports.clock.nowMs());
    const outcome = await carryOut(ports, state, plan);
    if (outcome !== 'raced') return outcome;
  }
  return 'incomplete';
}

function carryOut(ports: StatusSyncPorts, state: ReadTarget, plan: SyncPlan): Promise<SyncOutcome | 'raced'> {
  switch (plan.kind) {
    case 'settled':
      return Promise.resolve('settled');
    case 'purge':
      return withChange(ports, state.address, () => purge(ports, state));
    case 'write':
      return plan.containersChanged
        ? withChange(ports, state.address, () => writeStatus(ports, state, plan))
        : writeStatus(ports, state, plan);
  }
}

async function writeStatus(
  ports: StatusSyncPorts,
  state: ReadTarget,
  plan: Extract<SyncPlan, { kind: 'write' }>,
): Promise<SyncOutcome | 'raced'> {
  const { address, target, status: old } = state;
  const { record, acked } = plan;
  const quiet = record.outbox.length === 0;
  const first = quiet ? { ...record, acked } : record;
  const events = plan.events.map((event): Operation => ({ kind: 'put', item: encodeEvent(address, event) }));
  const written = await writeSurely(ports, [statusUpdate(state, first, old.version), ...events]);
  if (written.kind !== 'written') return 'raced';
  if (quiet) return 'written';

  const published = await ports.bus.publish(record.outbox.flatMap((event) => busEvent(ports, target, event)));
  if (published.failed.length > 0) return 'incomplete';
  const cleared = { ...record, version: record.version + 1, outbox: [], acked };
  const clearing = await writeSurely(ports, [statusUpdate(state, cleared, record.version)]);
  return clearing.kind === 'written' ? 'written' : 'raced';
}

function statusUpdate({ address, target }: ReadTarget, record: ReadTarget['status'], versionRead: number): Operation {
  return {
    ...updateTo(encodeStatus(address, record)),
    if: [
      { kind: 'equals', attribute: 'uid', value: target.uid },
      { kind: 'equals', attribute: 'version', value: versionRead },
    ],
  };
}

/** An outbox entry that no longer has the form of its event is dropped, or it would block all that follow. */
function busEvent(ports: StatusSyncPorts, target: TargetRecord, event: OutboxEvent): readonly BusEvent[] {
  const made = toBusEvent(target, event);
  if (made) return [made];
  ports.log.error('outbox event dropped: not of its schema', { id: event.id, detailType: event.detailType });
  return [];
}

/** All items of the uid in one transaction; EVENT items leave by TTL. */
async function purge(ports: StatusSyncPorts, state: ReadTarget): Promise<SyncOutcome | 'raced'> {
  const { address, target, status } = state;
  const items = await ports.store.query({ pk: address.pk, from: address.prefix, to: address.prefix + prefixEnd });
  if (items.length === 0) return 'unknownTarget';
  const [targetSk, statusSk] = [targetKey(address).sk, statusKey(address).sk];
  // Of this uid, not of the one read now: somebody may have purged it and registered the name again in between.
  const same = [{ kind: 'equals' as const, attribute: 'uid', value: target.uid }];
  const operations = items.map(({ pk, sk }): Operation => {
    const resourceVersion = { kind: 'equals' as const, attribute: 'resourceVersion', value: target.resourceVersion };
    const version = { kind: 'equals' as const, attribute: 'version', value: status.version };
    return {
      kind: 'delete',
      key: { pk, sk },
      if: sk === targetSk ? [...same, resourceVersion] : sk === statusSk ? [...same, version] : same,
    };
  });
  const outcome = await writeSurely(ports, operations);
  if (outcome.kind === 'written')
    ports.log.info('target purged', { namespace: target.namespace, name: target.name, uid: target.uid });
  return outcome.kind === 'written' ? 'purged' : 'raced';
}
