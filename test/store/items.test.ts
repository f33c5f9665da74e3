import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import type { z } from 'zod';
import type { EventRecord, ProbeRecord, TargetRecord } from '../../shared/core/records.ts';
import {
  changeCounted,
  type Decoded,
  decodeCheckpoint,
  decodeEpoch,
  decodeEvent,
  decodeHang,
  decodeLayout,
  decodeNoHolder,
  decodeProbe,
  decodeReport,
  decodeRun,
  decodeStatus,
  decodeTarget,
  decodeWeight,
  encodeCheckpoint,
  encodeEpoch,
  encodeEvent,
  encodeHang,
  encodeLayout,
  encodeNoHolder,
  encodeProbe,
  encodeReport,
  encodeRun,
  encodeStatus,
  encodeTarget,
  encodeWeight,
  eventRetentionSeconds,
  itemSchemaVersion,
  updateTo,
} from '../../shared/store/items.ts';
import { targetAddress } from '../../shared/store/keys.ts';
import { layoutSchema, noHolderSchema, weightSchema } from '../../shared/store/layout-schemas.ts';
import {
  checkpointSchema,
  epochSchema,
  eventSchema,
  hangSchema,
  probeSchema,
  type RecordSchema,
  reportSchema,
  statusSchema,
  targetSchema,
} from '../../shared/store/record-schemas.ts';
import { runSchema } from '../../shared/store/run-schema.ts';
import { sqliteStore } from '../../shared/store/sqlite.ts';
import type { Item } from '../../shared/store/store.ts';
import { arbitraryOf } from '../support/arbitrary-of.ts';
import { specOf, targetRecordOf } from '../support/pods.ts';

const at = targetAddress('default', 'checkout');

const recordsOf = <Record>(schema: RecordSchema<Record>): fc.Arbitrary<Record> =>
  arbitraryOf(schema as z.core.$ZodType) as fc.Arbitrary<Record>;

type Codec<Record> = {
  readonly schema: RecordSchema<Record>;
  readonly encode: (record: Record) => Item;
  readonly decode: (item: Item) => Decoded<Record>;
};

const roundTrip = async <Record>({ schema, encode, decode }: Codec<Record>): Promise<void> => {
  const property = fc.property(recordsOf(schema), (record) => {
    const stored = JSON.parse(JSON.stringify(encode(record))) as Item;
    assert.deepEqual(decode(stored), { kind: 'ok', record });
    assert.deepEqual(decode({ ...stored, fromANewerRelease: { a: 1 } }), { kind: 'ok', record });
  });
  await fc.assert(property, { numRuns: 100 });
};

const target = targetRecordOf({ creationTimestampMs: 1, spec: specOf({ lifecycle: 'static', containers: [] }) });

const probe: ProbeRecord = {
  uid: 'u1',
  container: 'app',
  probeType: 'readiness',
  containerID: '',
  version: 0,
  streak: 0,
  resultRun: 0,
  onHold: false,
  ended: false,
  sinceMs: 0,
  specDigest: '',
  output: '',
};

const event: EventRecord = {
  id: '0001',
  uid: 'u1',
  timeMs: 1_700_000_000_999,
  kind: 'transition',
  type: 'Normal',
  reason: 'Ready',
  message: '',
  count: 1,
  attempts: [],
};

const poisonDetail = (decoded: Decoded<unknown>): string => {
  assert.equal(decoded.kind, 'poison');
  return decoded.detail;
};

describe('a record survives encoding, storing and decoding', () => {
  test('TARGET', () => {
    const encode = (record: TargetRecord) => encodeTarget(targetAddress(record.namespace, record.name), record);
    return roundTrip({ schema: targetSchema, encode, decode: decodeTarget });
  });
  test('REPORT', () =>
    roundTrip({ schema: reportSchema, encode: (record) => encodeReport(at, record), decode: decodeReport }));
  test('PROBE', () =>
    roundTrip({ schema: probeSchema, encode: (record) => encodeProbe(at, record), decode: decodeProbe }));
  test('STATUS', () =>
    roundTrip({ schema: statusSchema, encode: (record) => encodeStatus(at, record), decode: decodeStatus }));
  test('HANG', () => roundTrip({ schema: hangSchema, encode: (record) => encodeHang(at, record), decode: decodeHang }));
  test('EVENT', () =>
    roundTrip({ schema: eventSchema, encode: (record) => encodeEvent(at, record), decode: decodeEvent }));
  test('EPOCH', () =>
    roundTrip({ schema: epochSchema, encode: (record) => encodeEpoch('00', record), decode: decodeEpoch }));
  test('CHECKPOINT', () =>
    roundTrip({
      schema: checkpointSchema,
      encode: (record) => encodeCheckpoint('00', record),
      decode: decodeCheckpoint,
    }));
  test('RUN', () => roundTrip({ schema: runSchema, encode: (record) => encodeRun('0', record), decode: decodeRun }));
  test('LAYOUT', () => roundTrip({ schema: layoutSchema, encode: encodeLayout, decode: decodeLayout }));
  test('WEIGHT', () =>
    roundTrip({ schema: weightSchema, encode: (record) => encodeWeight('00', record), decode: decodeWeight }));
  test('NOHOLDER', () => roundTrip({ schema: noHolderSchema, encode: encodeNoHolder, decode: decodeNoHolder }));
});

describe('an item that is not what it should be is poison, named by its key', () => {
  const item = encodeTarget(at, target);
  const broken = (attributes: { readonly [attribute: string]: unknown }): Item => ({ ...item, ...attributes }) as Item;

  test('the key is told', () => {
    const decoded = decodeTarget(broken({ uid: 7 }));
    assert.equal(decoded.kind, 'poison');
    assert.deepEqual(decoded.key, { pk: item.pk, sk: item.sk });
    assert.match(decoded.detail, /^uid: /);
  });

  test('a missing attribute', () => {
    assert.match(poisonDetail(decodeTarget(broken({ spec: undefined }))), /^spec: /);
  });

  test('another kind', () => {
    assert.equal(poisonDetail(decodeTarget(broken({ kind: 'STATUS' }))), 'kind: not TARGET');
  });

  test('a newer schema version', () => {
    const newer = broken({ schemaVersion: itemSchemaVersion + 1 });
    assert.equal(poisonDetail(decodeTarget(newer)), 'schemaVersion: 2 is newer than this release');
  });

  test('no schema version', () => {
    assert.equal(poisonDetail(decodeTarget(broken({ schemaVersion: undefined }))), 'schemaVersion: not a number');
  });

  test('a target that names another one than its key', () => {
    assert.equal(poisonDetail(decodeTarget(broken({ name: 'other' }))), 'the record names another item');
  });

  test('a probe that names another one than its key', () => {
    const moved = { ...encodeProbe(at, probe), probeType: 'liveness' };
    assert.equal(poisonDetail(decodeProbe(moved)), 'the record names another item');
  });

  test('a period of 0, which would make the loop spin', () => {
    const idle = { httpGet: { path: '/', port: 80, scheme: 'HTTP' }, initialDelaySeconds: 0, timeoutSeconds: 1 };
    const readinessProbe = { ...idle, periodSeconds: 0, successThreshold: 1, failureThreshold: 3 };
    const spec = { ...target.spec, containers: [{ name: 'app', readinessProbe }] };
    const detail = poisonDetail(decodeTarget(broken({ spec })));
    assert.match(detail, /^spec\.containers\.0\.readinessProbe\.periodSeconds: /);
  });
});

test('an event leaves seven days after its time', () => {
  assert.equal(encodeEvent(at, event).expiresAt, 1_700_000_000 + eventRetentionSeconds);
});

test('an update to a record removes what the record no longer has', async () => {
  const store = sqliteStore({ path: ':memory:' });
  const failed = encodeProbe(at, { ...probe, result: 'failure', lastResult: 'failure', failureClass: 'DNS' });
  await store.write([{ kind: 'put', item: failed }], { token: 'a' });
  await store.write([{ ...updateTo(encodeProbe(at, probe)), if: [{ kind: 'exists' }] }], { token: 'b' });
  assert.deepEqual(await store.get({ pk: failed.pk, sk: failed.sk }), encodeProbe(at, probe));
  store.close();
});

test('a change is counted in the slice of its target', async () => {
  const store = sqliteStore({ path: ':memory:' });
  await store.write([changeCounted(at)], { token: 'a' });
  await store.write([changeCounted(at)], { token: 'b' });
  const item = await store.get(changeCounted(at).key);
  assert.ok(item);
  assert.equal(item[at.slice], 2);
  store.close();
});
