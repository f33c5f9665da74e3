/**
 * Probes that have hung the event loop. The watchdog knows such a probe by a name. The target's HANG item counts its
 * hangs; after the second one the probe is in quarantine until the spec changes.
 */

import type { HangRecord, TargetRecord } from '../../core/spec/records.ts';
import { probeName, type SpecProbe } from '../../core/spec/spec.ts';
import type { ProbeType } from '../../core/spec/types.ts';
import { changeCounted, decodeHang, encodeHang, type Poison } from '../../store/records/items.ts';
import { hangKey, targetAddress, targetKey } from '../../store/records/keys.ts';
import type { Condition, Store } from '../../store/store.ts';
import { type WritePorts, writeKnown } from '../../table/write.ts';
import type { Run } from '../run.ts';
import type { HeldProbe, HeldTarget } from './held.ts';

/** One hang may have another cause. After two during the same probe, a third is not risked. */
const hangsMax = 2;
/** Attempts to write HANG. One may fail because another process writes it at the same time. */
const attemptsMax = 5;

/** The parts of a name in order, one per line. None of them can contain a line break. */
export const hungProbeParts = ['namespace', 'target', 'uid', 'generation', 'container', 'probeType'] as const;

/** The name contains the generation, so a change of the spec gives another name. */
export const hungProbeName = (
  { namespace, name, uid, generation }: TargetRecord,
  { container, probeType }: Pick<SpecProbe, 'container' | 'probeType'>,
): string => `${namespace}\n${name}\n${uid}\n${generation}\n${container.spec.name}\n${probeType}`;

/**
 * Counts one more hang of the probe, unless its target is gone. Ignores a text that is not a name.
 * @throws StoreUnavailable if the store stays unreachable.
 */
export async function rememberHang(ports: WritePorts, name: string, nowMs: number): Promise<void> {
  const [namespace = '', target = '', uid = '', generation, container, probeType] = name.split('\n');
  if (container === undefined || probeType === undefined) return;
  const address = targetAddress(namespace, target);
  const probe = probeName(container, probeType as ProbeType);
  for (let attempt = 1; attempt <= attemptsMax; attempt += 1) {
    const before = await storedHang(ports.store, address);
    if (before === 'poison') return;
    const record = withHang(before, { uid, generation: Number(generation), probe, nowMs });
    const sameUid: Condition = { kind: 'equals', attribute: 'uid', value: uid };
    const unchanged: Condition = before
      ? { kind: 'equals', attribute: 'version', value: before.version }
      : { kind: 'notExists' };
    const outcome = await writeKnown(ports, [
      { kind: 'check', key: targetKey(address), if: [sameUid] },
      { kind: 'put', item: encodeHang(address, record), if: [unchanged] },
      // Makes the current holder of the target read it again.
      changeCounted(address),
    ]);
    if (outcome.kind === 'written' || outcome.refusals.some(({ index }) => index === 0)) return;
  }
}

async function storedHang(
  store: Store,
  address: ReturnType<typeof targetAddress>,
): Promise<HangRecord | 'poison' | undefined> {
  const item = await store.get(hangKey(address));
  if (!item) return undefined;
  const decoded = decodeHang(item);
  return decoded.kind === 'ok' ? decoded.record : 'poison';
}

type Hung = Pick<HangRecord, 'uid' | 'generation'> & { readonly probe: string; readonly nowMs: number };

function withHang(before: HangRecord | undefined, { uid, generation, probe, nowMs }: Hung): HangRecord {
  const counts = before?.uid === uid && before.generation === generation ? before.hangs : {};
  const hangs = { ...counts, [probe]: (counts[probe] ?? 0) + 1 };
  return { uid, version: (before?.version ?? 0) + 1, generation, hungAtMs: nowMs, hangs };
}

/** Takes in a HANG item that was read, and logs the probes that are in quarantine from now on. */
export function takeHang({ ports }: Run, held: HeldTarget, hang: HangRecord): void {
  if (hang.version <= (held.hang?.version ?? 0)) return;
  held.hang = hang;
  const { namespace, name } = held.target;
  for (const [probe, hangs] of quarantinedIn(held))
    ports.log.error('probe quarantined', { namespace, target: name, probe, hangs });
}

type Hanging = Pick<HeldTarget, 'hang' | 'target'>;

export type Quarantine = { readonly detail: string; readonly hungAtMs: number };

/** Why this probe is in quarantine; undefined if it is not. */
export function quarantineOf(held: Hanging, { name }: Pick<HeldProbe, 'name'>): Quarantine | undefined {
  if (!held.hang) return undefined;
  const found = quarantinedIn(held).find(([probe]) => probe === name);
  return found && { detail: detailOf(found[1]), hungAtMs: held.hang.hungAtMs };
}

/** The quarantined probes of a target, as they are shown. */
export const quarantinedProbes = (held: HeldTarget): readonly Poison[] =>
  quarantinedIn(held).map(([probe, hangs]) => ({
    key: hangKey(held.address),
    detail: `${probe}: ${detailOf(hangs)}`,
  }));

const quarantinedIn = ({ hang, target }: Hanging): readonly (readonly [string, number])[] =>
  hang?.uid === target.uid && hang.generation === target.generation
    ? Object.entries(hang.hangs).filter(([, hangs]) => hangs >= hangsMax)
    : [];

const detailOf = (hangs: number): string =>
  `the prober hung ${hangs} times while it made this probe, so it is not made any more; a change of the target's spec lets it be tried again`;
