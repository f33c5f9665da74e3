/** How each kind of item is encoded and decoded. */
import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { z } from 'zod';
import type { TargetRecord } from '../../shared/core/spec/records.ts';
import * as items from '../../shared/store/records/items.ts';
import { targetAddress } from '../../shared/store/records/keys.ts';
import { layoutSchema, noHolderSchema, weightSchema } from '../../shared/store/records/layout-schemas.ts';
import * as records from '../../shared/store/records/record-schemas.ts';
import { runSchema } from '../../shared/store/records/run-schema.ts';
import type { Item } from '../../shared/store/store.ts';
import { arbitraryOf } from '../support/arbitrary-of.ts';

export const at = targetAddress('default', 'checkout');

export type Codec = {
  readonly decode: (item: Item) => items.Decoded<unknown>;
  /** Any record survives encoding, storing and decoding, also beside an attribute of a newer release. */
  readonly assertRoundTrip: () => Promise<void>;
};

function codec<Record>(
  schema: records.RecordSchema<Record>,
  encode: (record: Record) => Item,
  decode: (item: Item) => items.Decoded<Record>,
): Codec {
  const anyRecord = arbitraryOf(schema as z.core.$ZodType) as fc.Arbitrary<Record>;
  const property = fc.property(anyRecord, (record) => {
    const stored = JSON.parse(JSON.stringify(encode(record))) as Item;
    assert.deepEqual(decode(stored), { kind: 'ok', record });
    assert.deepEqual(decode({ ...stored, fromANewerRelease: { a: 1 } }), { kind: 'ok', record });
  });
  return { decode, assertRoundTrip: async () => fc.assert(property, { numRuns: 100 }) };
}

const encodeTarget = (record: TargetRecord) => items.encodeTarget(targetAddress(record.namespace, record.name), record);

export const codecs: { readonly [kind: string]: Codec } = {
  TARGET: codec(records.targetSchema, encodeTarget, items.decodeTarget),
  REPORT: codec(records.reportSchema, (record) => items.encodeReport(at, record), items.decodeReport),
  PROBE: codec(records.probeSchema, (record) => items.encodeProbe(at, record), items.decodeProbe),
  STATUS: codec(records.statusSchema, (record) => items.encodeStatus(at, record), items.decodeStatus),
  HANG: codec(records.hangSchema, (record) => items.encodeHang(at, record), items.decodeHang),
  EVENT: codec(records.eventSchema, (record) => items.encodeEvent(at, record), items.decodeEvent),
  EPOCH: codec(records.epochSchema, (record) => items.encodeEpoch('00', record), items.decodeEpoch),
  CHECKPOINT: codec(records.checkpointSchema, (record) => items.encodeCheckpoint('00', record), items.decodeCheckpoint),
  RUN: codec(runSchema, (record) => items.encodeRun('0', record), items.decodeRun),
  LAYOUT: codec(layoutSchema, items.encodeLayout, items.decodeLayout),
  WEIGHT: codec(weightSchema, (record) => items.encodeWeight('00', record), items.decodeWeight),
  NOHOLDER: codec(noHolderSchema, items.encodeNoHolder, items.decodeNoHolder),
};
