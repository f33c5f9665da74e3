/** One target as the table contains it. An unreadable item is reported and left out; it does not affect the others. */

import type { TargetName } from '../../core/spec/names.ts';
import type { ProbeRecord, ReportRecord, StatusRecord, TargetRecord } from '../../core/spec/records.ts';
import type { ProbeName } from '../../core/spec/spec.ts';
import { prefixEnd, type TargetAddress, targetAddress } from '../../store/records/keys.ts';
import type { Item } from '../../store/store.ts';
import { decodeTargetItems, probesOf } from '../../table/targets.ts';
import { type Checked, ok, problem } from '../http/problem.ts';
import type { ApiDeps } from '../ports/deps.ts';

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

export const noSuchTarget = problem(404, 'no-such-target', 'There is no such target.');

export const unreadable = problem(
  409,
  'quarantined',
  'The stored item of this target cannot be read; it has to be mended or removed in the store.',
);

export const probeRequestWritesAttribute = 'probeRequestWrites';

const probeMark = '#PROBE#';

/** One consistent Query. */
export async function readStored(
  { store, onPoison }: Pick<ApiDeps, 'store' | 'onPoison'>,
  address: TargetAddress,
): Promise<ReadOutcome> {
  const items = await store.query({ pk: address.pk, from: address.prefix, to: address.prefix + prefixEnd });
  return storedOf(items, onPoison);
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

/** One target for an answer, or the problem that there is none that can be read. */
export async function readTargetOr(deps: ApiDeps, { namespace, name }: TargetName): Promise<Checked<StoredTarget>> {
  const read = await readStored(deps, targetAddress(namespace, name));
  switch (read.kind) {
    case 'found':
      return ok(read.stored);
    case 'absent':
      return noSuchTarget;
    case 'poison':
      return unreadable;
  }
}
