/** From items to targets: the result of one Query of a bucket or of one target. A quarantined item affects no other. */
import type {
  HangRecord,
  ProbeRecord,
  ReportRecord,
  StatusRecord,
  TargetRecord,
  TargetState,
} from '../core/spec/records.ts';
import { probeName } from '../core/spec/spec.ts';
import {
  type Decoded,
  decodeHang,
  decodeProbe,
  decodeReport,
  decodeStatus,
  decodeTarget,
  type Poison,
} from '../store/records/items.ts';
import type { TargetAddress } from '../store/records/keys.ts';
import { prefixEnd, prefixOf, targetAddress } from '../store/records/keys.ts';
import type { Item, Store } from '../store/store.ts';

export type ReadTarget = TargetState & {
  readonly address: TargetAddress;
  /** Absent: none of its probes has hung the event loop. */
  readonly hang?: HangRecord;
};

export type ReadTargets = { readonly targets: readonly ReadTarget[]; readonly poison: readonly Poison[] };

/** All items of one target except its history, strongly consistent; undefined: there is no such target. */
export async function readTarget(store: Store, address: TargetAddress): Promise<ReadTarget | undefined> {
  const items = await store.query({ pk: address.pk, from: address.prefix, to: address.prefix + prefixEnd });
  return assembleTargets(items).targets[0];
}

/** These targets of one bucket, by key prefix, in one query from the first of them to the last. */
export async function readTargets(
  store: Store,
  addresses: readonly TargetAddress[],
): Promise<ReadonlyMap<string, ReadTarget>> {
  const prefixes = addresses.map(({ prefix }) => prefix).toSorted();
  const [first, last] = [prefixes[0], prefixes.at(-1)];
  if (first === undefined || last === undefined) return new Map();
  const items = await store.query({ pk: addresses[0]?.pk ?? '', from: first, to: last + prefixEnd });
  const wanted = new Set(prefixes);
  // Decoding costs far more than reading, so the items in between are not decoded.
  const { targets } = assembleTargets(items.filter(({ sk }) => wanted.has(prefixOf(sk) ?? '')));
  return new Map(targets.map((read) => [read.address.prefix, read]));
}

/** The targets in the items of a partition. */
export function assembleTargets(items: readonly Item[]): ReadTargets {
  const read = [...groupedByTarget(items).values()].map(assembleTarget);
  return { targets: read.flatMap(({ target }) => target ?? []), poison: read.flatMap(({ poison }) => poison) };
}

/** The items of each target, by its prefix. Decoding them is the expensive part and is left to the caller. */
export function groupedByTarget(items: readonly Item[]): ReadonlyMap<string, readonly Item[]> {
  const groups = new Map<string, Item[]>();
  for (const item of items) {
    const prefix = prefixOf(item.sk);
    if (prefix === undefined) continue;
    const group = groups.get(prefix);
    if (group) group.push(item);
    else groups.set(prefix, [item]);
  }
  return groups;
}

/** The records of one target's items; what cannot be read is poison, and harms nothing beside it. */
export type TargetRecords = {
  readonly target?: TargetRecord;
  readonly report?: ReportRecord;
  readonly status?: StatusRecord;
  readonly hang?: HangRecord;
  readonly probes: readonly ProbeRecord[];
  readonly poison: readonly Poison[];
};

export function decodeTargetItems(items: readonly Item[]): TargetRecords {
  const poison: Poison[] = [];
  const accept = <Record>(decoded: Decoded<Record>): Record | undefined => {
    if (decoded.kind === 'ok') return decoded.record;
    poison.push({ key: decoded.key, detail: decoded.detail });
    return undefined;
  };
  let target: TargetRecord | undefined;
  let report: ReportRecord | undefined;
  let status: StatusRecord | undefined;
  let hang: HangRecord | undefined;
  const probes: ProbeRecord[] = [];
  for (const item of items) {
    switch (item.kind) {
      case 'TARGET':
        target = accept(decodeTarget(item));
        break;
      case 'REPORT':
        report = accept(decodeReport(item));
        break;
      case 'STATUS':
        status = accept(decodeStatus(item));
        break;
      case 'HANG':
        hang = accept(decodeHang(item));
        break;
      case 'PROBE': {
        const probe = accept(decodeProbe(item));
        if (probe) probes.push(probe);
        break;
      }
      default:
        poison.push({ key: { pk: item.pk, sk: item.sk }, detail: 'kind: unknown' });
    }
  }
  return {
    ...(target && { target }),
    ...(report && { report }),
    ...(status && { status }),
    ...(hang && { hang }),
    probes,
    poison,
  };
}

/** The probes of this incarnation, by their names. */
export const probesOf = (probes: readonly ProbeRecord[], uid: string): TargetState['probes'] =>
  Object.fromEntries(
    probes
      .filter((probe) => probe.uid === uid)
      .map((probe) => [probeName(probe.container, probe.probeType), probe] as const),
  );

/** A target as the holder needs it: without its STATUS it is poison. */
export function assembleTarget(items: readonly Item[]): {
  readonly target?: ReadTarget;
  readonly poison: readonly Poison[];
} {
  const { target, status, report, hang, probes, poison } = decodeTargetItems(items);
  if (!target || !status) return { poison: poison.length > 0 ? poison : items.slice(0, 1).map(orphan) };
  const state: ReadTarget = {
    address: targetAddress(target.namespace, target.name),
    target,
    status,
    probes: probesOf(probes, target.uid),
    ...(report && { report }),
    ...(hang && { hang }),
  };
  return { target: state, poison };
}

const orphan = ({ pk, sk }: Item): Poison => ({
  key: { pk, sk },
  detail: 'the target has no TARGET or no STATUS item',
});
