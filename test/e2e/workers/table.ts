/** The items of the table, read without a proxy. */
import type { EventRecord } from '../../../shared/core/spec/records.ts';
import { decodeEvent } from '../../../shared/store/records/items.ts';
import { eventPrefix, prefixEnd, targetAddress } from '../../../shared/store/records/keys.ts';
import type { Store } from '../../../shared/store/store.ts';
import { type ReadTarget, readTarget } from '../../../shared/table/targets.ts';
import { namespace } from './cast.ts';

export async function readStored(store: Store, name: string): Promise<ReadTarget> {
  const target = await readTarget(store, targetAddress(namespace, name));
  if (!target) throw new Error(`${name} is gone`);
  return target;
}

/** Oldest first. */
export async function transitionsOf(store: Store, name: string): Promise<readonly EventRecord[]> {
  const address = targetAddress(namespace, name);
  const from = eventPrefix(address);
  const items = await store.query({ pk: address.eventsPk, from, to: from + prefixEnd });
  const events = items.flatMap((item) => {
    const decoded = decodeEvent(item);
    return decoded.kind === 'ok' ? [decoded.record] : [];
  });
  return events.filter(({ kind }) => kind === 'transition').toSorted((one, other) => one.timeMs - other.timeMs);
}

export const restartsOf = ({ status }: ReadTarget): number =>
  status.status.containerStatuses.reduce((sum, { restartCount }) => sum + restartCount, 0) +
  Object.keys(status.restartRequests).length;
