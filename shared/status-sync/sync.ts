/**
 * status-sync: level-triggered, idempotent, order-safe. An event is a hint to look: everything is read again, the whole
 * status is recomputed and written on condition of the version read. The outbox follows the safe order: write, publish,
 * clear, ack.
 */

import type { StatusRecord } from '../core/spec/records.ts';
import type { ProbeName } from '../core/spec/spec.ts';
import { entryName } from '../core/status/outbox.ts';
import { planSync, type SyncPlan } from '../core/status/sync.ts';
import { encodeEvent, encodeStatus, updateTo } from '../store/records/items.ts';
import {
  hangKey,
  latestPrefix,
  prefixEnd,
  reportKey,
  statusKey,
  targetAddress,
  targetKey,
} from '../store/records/keys.ts';
import { type Operation, operationsMax, type Store } from '../store/store.ts';
import { withChange } from '../table/change-counters.ts';
import { type ReadTarget, readTarget } from '../table/targets.ts';
import { type WritePorts, writeSurely } from '../table/write.ts';
import { type OutboxPorts, publishOutbox } from './outbox.ts';

export type StatusSyncPorts = WritePorts & OutboxPorts & { readonly store: Store };

export type TargetName = { readonly namespace: string; readonly name: string };

/**
 * `settled`: nothing to do, or only what another sync is about to publish. `incomplete`: some event could not be
 * published; `denied`: the function may not publish it. The outbox keeps all of them, and the holder asks again until
 * it is empty.
 */
export type SyncOutcome = 'settled' | 'written' | 'purged' | 'unknownTarget' | 'incomplete' | 'denied';

/** If other syncs keep changing the status, one of them completes it; the holder asks again. */
const racesMax = 8;

/**
 * @throws StoreUnavailable when the store stays unreachable: the caller has the event delivered again, unless it is a
 * StoreDenied.
 */
export async function syncTarget(ports: StatusSyncPorts, name: TargetName): Promise<SyncOutcome> {
  const address = targetAddress(name.namespace, name.name);
  const published = new Set<string>();
  for (let race = 0; race < racesMax; race += 1) {
    const state = await readTarget(ports.store, address);
    if (!state) return 'unknownTarget';
    const plan = planSync(state, ports.clock.nowMs(), published);
    const outcome = await carryOut(ports, state, plan, published);
    // The report of the end that a purge has waited for is published now.
    const isLast = outcome === 'written' && isOverdue(state.target, ports.clock.nowMs());
    if (outcome !== 'raced' && !isLast) return outcome;
  }
  return 'incomplete';
}

const isOverdue = ({ deletionTimestampMs }: ReadTarget['target'], nowMs: number): boolean =>
  deletionTimestampMs !== undefined && deletionTimestampMs <= nowMs;

function carryOut(
  ports: StatusSyncPorts,
  state: ReadTarget,
  plan: SyncPlan,
  published: Set<string>,
): Promise<SyncOutcome | 'raced'> {
  switch (plan.kind) {
    case 'settled':
      return Promise.resolve('settled');
    case 'purge':
      return withChange(ports, state.address, () => purge(ports, state));
    case 'write':
      return writeStatus(ports, state, plan, published);
  }
}

/** Removes the latest events: at most one for each probe. No more are written, because every worker has ended. */
async function removeLatest(ports: StatusSyncPorts, { address, target }: ReadTarget): Promise<void> {
  const from = latestPrefix(address);
  const items = await ports.store.query({ pk: address.eventsPk, from, to: from + prefixEnd, limit: operationsMax });
  const removals = items
    .filter(({ uid }) => uid === target.uid)
    .map(({ pk, sk }): Operation => {
      return { kind: 'delete', key: { pk, sk }, if: [{ kind: 'equals', attribute: 'uid', value: target.uid }] };
    });
  if (removals.length > 0) await writeSurely(ports, removals);
}

/** All items of the uid in one transaction. Events expire by themselves; those without an expiry are deleted first. */
async function purge(ports: StatusSyncPorts, state: ReadTarget): Promise<SyncOutcome | 'raced'> {
  const { address, target, status } = state;
  await removeLatest(ports, state);
  const items = await ports.store.query({ pk: address.pk, from: address.prefix, to: address.prefix + prefixEnd });
  if (items.length === 0) return 'unknownTarget';
  const [targetSk, statusSk] = [targetKey(address).sk, statusKey(address).sk];
  // On condition of this uid: another sync may have purged the target meanwhile, and its name may be registered again.
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
  // A first report or hang does not touch TARGET: one written after the query would outlive its target.
  const absent = [reportKey(address), hangKey(address)].filter(({ sk }) => !items.some((item) => item.sk === sk));
  const stillAbsent = absent.map((key): Operation => ({ kind: 'check', key, if: [{ kind: 'notExists' }] }));
  const outcome = await writeSurely(ports, [...operations, ...stillAbsent]);
  if (outcome.kind === 'written')
    ports.log.info('target purged', { namespace: target.namespace, name: target.name, uid: target.uid });
  return outcome.kind === 'written' ? 'purged' : 'raced';
}

/**
 * Writes a computed status and publishes its events, in the safe order: write, publish, clear, ack. Published entries
 * are added to `published`, for a caller that has to clear them later because another sync has written in between.
 */
export async function writeStatus(
  ports: WritePorts & OutboxPorts,
  state: ReadTarget,
  plan: Extract<SyncPlan, { kind: 'write' }>,
  published: Set<string>,
): Promise<'written' | 'incomplete' | 'denied' | 'raced'> {
  const { address, target, status: old } = state;
  const { record, publish, acked } = plan;
  const quiet = record.outbox.length === 0;
  const first = quiet ? { ...record, acked } : record;
  const events = plan.events.map((event): Operation => ({ kind: 'put', item: encodeEvent(address, event) }));
  const written = await writeSurely(ports, [statusUpdate(state, first, old.version), ...events]);
  if (written.kind !== 'written') return 'raced';
  if (publish.length === 0) return 'written';

  const outcome = await publishOutbox(ports, target, publish);
  if (outcome !== 'published') return outcome;
  for (const event of publish) published.add(entryName(event));
  const outbox = record.outbox.filter((event) => !published.has(entryName(event)));
  const cleared = { ...record, version: record.version + 1, outbox, ...(outbox.length === 0 && { acked }) };
  const clearing = await writeSurely(ports, [statusUpdate(state, cleared, record.version)]);
  return clearing.kind === 'written' ? 'written' : 'raced';
}

/**
 * Written on condition that STATUS has not changed since it was read: of two syncs that read the same one, only one
 * writes.
 */
export function statusUpdate(
  { address, target }: ReadTarget,
  record: ReadTarget['status'],
  versionRead: number,
): Operation {
  return {
    ...updateTo(encodeStatus(address, record)),
    if: [
      { kind: 'equals', attribute: 'uid', value: target.uid },
      { kind: 'equals', attribute: 'version', value: versionRead },
    ],
  };
}

/** Whether status-sync has taken in this version of a PROBE item. An ack covers all earlier versions. */
export const isAcked = ({ acked }: Pick<StatusRecord, 'acked'>, name: ProbeName, version: number): boolean =>
  (acked[name] ?? 0) >= version;
