/** The orders of a list other than the table's, and the positions in them that a token names. */
import { specProbes } from '../../core/spec/spec.ts';
import type { StoredTarget } from '../targets/stored-target.ts';

export const sortOrders = ['name', 'lastChange'] as const;

export type SortOrder = (typeof sortOrders)[number];

/** The position of a target in an order, unique among the targets of one moment. */
export type SortKey = { readonly changedMs: number; readonly name: string; readonly namespace: string };

export function sortKeyOf(order: SortOrder, stored: StoredTarget): SortKey {
  const { name, namespace } = stored.target;
  return { changedMs: order === 'lastChange' ? lastChangeMs(stored) : 0, name, namespace };
}

/** Newest change first, then by name, then by namespace. */
export function compareKeys(a: SortKey, b: SortKey): number {
  return b.changedMs - a.changedMs || compareTexts(a.name, b.name) || compareTexts(a.namespace, b.namespace);
}

/** Code unit by code unit, so the same on every machine. */
function compareTexts(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

/** When the result of any probe last changed, as `status.probes[].since` shows it; 0: none has a result yet. */
function lastChangeMs({ target, probes }: StoredTarget): number {
  return specProbes(target.spec).reduce((latest, { name }) => {
    const record = probes[name];
    return record && record.version > 0 ? Math.max(latest, record.sinceMs) : latest;
  }, 0);
}
