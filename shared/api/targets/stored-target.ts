/**
 * What the table contains of one target. An unreadable item is reported and left out; it does not affect the others.
 */
import type { ProbeRecord, ReportRecord, StatusRecord, TargetRecord } from '../../core/spec/records.ts';
import type { ProbeName } from '../../core/spec/spec.ts';
import { prefixEnd, type TargetAddress } from '../../store/records/keys.ts';
import type { Item, Store } from '../../store/store.ts';
import { decodeTargetItems, probesOf } from '../../table/targets.ts';
import type { ApiDeps } from '../deps.ts';

export type StoredTarget = {
  readonly target: TargetRecord;
  /** Absent: it cannot be read. */
  readonly status?: StatusRecord;
  readonly report?: ReportRecord;
  /** There is a REPORT item, even if it is unreadable. */
  readonly hasReportItem: boolean;
  readonly probes: { readonly [probe: ProbeName]: ProbeRecord };
  /** Every probe that has an item, even an unreadable one. */
  readonly probeItems: readonly ProbeName[];
  /** How often `probeRequests` was written, which concurrent triggers compare. */
  readonly probeRequestWrites: number | undefined;
};

export type ReadOutcome =
  | { readonly kind: 'found'; readonly stored: StoredTarget }
  | { readonly kind: 'absent' }
  /** There is a target, but its TARGET item is unreadable. */
  | { readonly kind: 'poison' };

export const probeRequestWritesAttribute = 'probeRequestWrites';

const probeMark = '#PROBE#';

type ReadDeps = { readonly store: Store } & Pick<ApiDeps, 'onPoison'>;

/** One consistent Query. */
export async function readStored(deps: ReadDeps, address: TargetAddress): Promise<ReadOutcome> {
  const items = await deps.store.query({ pk: address.pk, from: address.prefix, to: address.prefix + prefixEnd });
  return storedOf(items, deps.onPoison);
}

/** From the items of one target. */
export function storedOf(items: readonly Item[], onPoison: ApiDeps['onPoison']): ReadOutcome {
  const { target, status, report, probes, poison } = decodeTargetItems(items);
  if (onPoison) poison.forEach(onPoison);
  const of = (kind: string) => items.filter((item) => item.kind === kind);
  const [targetItem] = of('TARGET');
  if (!targetItem) return { kind: 'absent' };
  if (!target) return { kind: 'poison' };
  const writes = targetItem[probeRequestWritesAttribute];
  const stored: StoredTarget = {
    target,
    ...(status?.uid === target.uid && { status }),
    ...(report?.uid === target.uid && { report }),
    hasReportItem: of('REPORT').length > 0,
    probes: probesOf(probes, target.uid),
    probeItems: of('PROBE').map(({ sk }) => sk.slice(sk.indexOf(probeMark) + probeMark.length)),
    probeRequestWrites: typeof writes === 'number' ? writes : undefined,
  };
  return { kind: 'found', stored };
}
