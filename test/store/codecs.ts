/** How each kind of item is encoded and decoded. */
import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { z } from 'zod';
import type { TargetRecord } from '../../shared/core/spec/records.ts';
import * as items from '../../shared/store/records/items.ts';
import { targetAddress } from '../../shared/store/records/keys.ts';
import * as shards from '../../shared/store/records/shard-records.ts';
import * as targets from '../../shared/store/records/target-records.ts';
import type { Item } from '../../shared/store/store.ts';
import { arbitraryOf } from '../support/arbitrary-of.ts';

export const at = targetAddress('default', 'checkout');

export type Codec = {
  readonly decode: (item: Item) => items.Decoded<unknown>;
  /** Any record survives encoding, storing and decoding, also beside an attribute of a newer release. */
  readonly assertRoundTrip: () => Promise<void>;
};

function codec<Record>(
  schema: z.ZodType<Record>,
  encode: (record: Record) => Item,
  decode: (item: Item) => items.Decoded<Record>,
): Codec {
  const anyRecord = arbitraryOf(schema) as fc.Arbitrary<Record>;
  const property = fc.property(anyRecord, (record) => {
    const stored = JSON.parse(JSON.stringify(encode(record))) as Item;
    assert.deepEqual(decode(stored), { kind: 'ok', record });
    assert.deepEqual(decode({ ...stored, fromANewerRelease: { a: 1 } }), { kind: 'ok', record });
  });
  return { decode, assertRoundTrip: async () => fc.assert(property, { numRuns: 100 }) };
}

const encodeTarget = (record: TargetRecord) => items.encodeTarget(targetAddress(record.namespace, record.name), record);

export const codecs: { readonly [kind: string]: Codec } = {
  TARGET: codec(targets.targetSchema, encodeTarget, items.decodeTarget),
  REPORT: codec(targets.reportSchema, (record) => items.encodeReport(at, record), items.decodeReport),
  PROBE: codec(targets.probeSchema, (record) => items.encodeProbe(at, record), items.decodeProbe),
  STATUS: codec(targets.statusSchema, (record) => items.encodeStatus(at, record), items.decodeStatus),
  HANG: codec(targets.hangSchema, (record) => items.encodeHang(at, record), items.decodeHang),
  EVENT: codec(targets.eventSchema, (record) => items.encodeEvent(at, record), items.decodeEvent),
  EPOCH: codec(shards.epochSchema, (record) => items.encodeEpoch('00', record), items.decodeEpoch),
  CHECKPOINT: codec(shards.checkpointSchema, (record) => items.encodeCheckpoint('00', record), items.decodeCheckpoint),
  RUN: codec(shards.runSchema, (record) => items.encodeRun('0', record), items.decodeRun),
  LAYOUT: codec(shards.layoutSchema, items.encodeLayout, items.decodeLayout),
  WEIGHT: codec(shards.weightSchema, (record) => items.encodeWeight('00', record), items.decodeWeight),
  NOHOLDER: codec(shards.noHolderSchema, items.encodeNoHolder, items.decodeNoHolder),
};
