/** The items in the store's file, read while the product runs or not. */

import { DatabaseSync } from 'node:sqlite';
import type { EventRecord, ProbeRecord, StatusRecord, TargetRecord } from '../../../shared/core/spec/records.ts';
import {
  type Decoded,
  decodeCheckpoint,
  decodeEvent,
  decodeProbe,
  decodeStatus,
  decodeTarget,
} from '../../../shared/store/records/items.ts';
import type { CheckpointRecord } from '../../../shared/store/records/shard-records.ts';
import type { Item } from '../../../shared/store/store.ts';

export type Snapshot = {
  readonly timeMs: number;
  /** Every item as text, by its key. */
  readonly texts: ReadonlyMap<string, string>;
  readonly targets: ReadonlyMap<string, TargetRecord>;
  /** By the target's name. */
  readonly statuses: ReadonlyMap<string, StatusRecord>;
  readonly probes: readonly Kept<ProbeRecord>[];
  readonly events: readonly Kept<EventRecord>[];
  /** By the sort key of the PROBE item. */
  readonly checkpoints: CheckpointRecord['entries'];
};

/** A record with the target it belongs to and its key. */
export type Kept<Record> = {
  readonly target: string;
  readonly sk: string;
  readonly text: string;
  readonly record: Record;
};

export function readSnapshot(file: string): Snapshot {
  const database = new DatabaseSync(file, { readOnly: true, timeout: 5_000 });
  const timeMs = Date.now();
  const rows = database.prepare('SELECT pk, sk, doc FROM items ORDER BY pk, sk').all();
  database.close();
  const items = rows.map(({ pk, sk, doc }) => ({ ...JSON.parse(String(doc)), pk, sk, text: String(doc) }) as Row);
  const of = (kind: string) => items.filter((item) => item.kind === kind);
  const kept = <Record>(kind: string, decode: (item: Item) => Decoded<Record>): readonly Kept<Record>[] =>
    of(kind).map((item) => ({
      target: targetOf(item.sk),
      sk: item.sk,
      text: item.text,
      record: decoded(decode(item)),
    }));
  const byTarget = <Record>(all: readonly Kept<Record>[]) => new Map(all.map(({ target, record }) => [target, record]));
  const checkpoints = of('CHECKPOINT').map((item) => decoded(decodeCheckpoint(item)).entries);
  return {
    timeMs,
    texts: new Map(items.map(({ pk, sk, text }) => [`${pk} ${sk}`, text])),
    targets: byTarget(kept('TARGET', decodeTarget)),
    statuses: byTarget(kept('STATUS', decodeStatus)),
    probes: kept('PROBE', decodeProbe),
    events: kept('EVENT', decodeEvent).filter(({ sk }) => sk.includes('#EVENT#')),
    checkpoints: Object.assign({}, ...checkpoints),
  };
}

type Row = Item & { readonly text: string };

/** `<hash>#<namespace>/<name>#…` */
const targetOf = (sk: string): string => sk.split('#')[1]?.split('/')[1] ?? '';

function decoded<Record>(outcome: Decoded<Record>): Record {
  if (outcome.kind === 'poison') throw new Error(`poison: ${JSON.stringify(outcome)}`);
  return outcome.record;
}

/** The run length that a process restores: the item's, or the checkpoint's of the same streak. */
export function restoredRun({ checkpoints }: Snapshot, { sk, record }: Kept<ProbeRecord>): number {
  const entry = checkpoints[sk];
  const valid = entry?.uid === record.uid && entry.streak === record.streak;
  return valid ? Math.max(entry.resultRun, record.resultRun) : record.resultRun;
}
