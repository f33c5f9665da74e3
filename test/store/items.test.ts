import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { EventRecord, ProbeRecord } from '../../shared/core/spec/records.ts';
import {
  changeCounted,
  type Decoded,
  decodeProbe,
  decodeTarget,
  encodeEvent,
  encodeProbe,
  encodeTarget,
  eventRetentionSeconds,
  itemSchemaVersion,
  updateTo,
} from '../../shared/store/records/items.ts';
import { sqliteStore } from '../../shared/store/sqlite/sqlite.ts';
import type { Item } from '../../shared/store/store.ts';
import { specOf, targetRecordOf } from '../support/pods.ts';
import { at, codecs } from './codecs.ts';

const target = targetRecordOf({ creationTimestampMs: 1, spec: specOf({ lifecycle: 'static', containers: [] }) });

const probe: ProbeRecord = {
  ...{ uid: 'u1', container: 'app', probeType: 'readiness', containerID: '', specDigest: '', output: '' },
  ...{ version: 0, streak: 0, resultRun: 0, sinceMs: 0, onHold: false, ended: false },
};

const event: EventRecord = {
  ...{ id: '0001', uid: 'u1', timeMs: 1_700_000_000_999, kind: 'transition', type: 'Normal', reason: 'Ready' },
  ...{ message: '', count: 1, attempts: [] },
};

const poisonDetail = (decoded: Decoded<unknown>): string => {
  assert.equal(decoded.kind, 'poison');
  return decoded.detail;
};

describe('a record survives encoding, storing and decoding', () => {
  for (const [kind, { assertRoundTrip }] of Object.entries(codecs)) test(kind, assertRoundTrip);
});

describe('an item that is not what it should be is poison, named by its key', () => {
  const item = encodeTarget(at, target);
  const broken = (attributes: object): Item => ({ ...item, ...attributes }) as Item;

  test('the key is named', () => {
    const decoded = decodeTarget(broken({ uid: 7 }));
    assert.equal(decoded.kind, 'poison');
    assert.deepEqual(decoded.key, { pk: item.pk, sk: item.sk });
    assert.match(decoded.detail, /^uid: /);
  });

  const rows: readonly (readonly [what: string, attributes: object, detail: RegExp])[] = [
    ['a missing attribute', { spec: undefined }, /^spec: /],
    ['another kind', { kind: 'STATUS' }, /^kind: not TARGET$/],
    [
      'a newer schema version',
      { schemaVersion: itemSchemaVersion + 1 },
      /^schemaVersion: 2 is newer than this release$/,
    ],
    ['no schema version', { schemaVersion: undefined }, /^schemaVersion: not a number$/],
    ['a target that names another one than its key', { name: 'other' }, /^the record names another item$/],
  ];
  for (const [what, attributes, detail] of rows)
    test(what, () => assert.match(poisonDetail(decodeTarget(broken(attributes))), detail));

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

describe('a handler without a field that it cannot do without is poison', () => {
  const probed = { initialDelaySeconds: 0, periodSeconds: 10, timeoutSeconds: 1, successThreshold: 1 };
  const rows: readonly (readonly [handler: string, whole: object, missing: string])[] = [
    ['exec', { command: ['true'] }, 'command'],
    ['httpGet', { port: 80 }, 'port'],
    ['tcpSocket', { port: 80 }, 'port'],
    ['grpc', { port: 80 }, 'port'],
  ];
  const decodedWith = (handler: string, fields: object) => {
    const readinessProbe = { ...probed, failureThreshold: 3, [handler]: fields };
    const spec = { ...target.spec, containers: [{ name: 'app', readinessProbe }] };
    return decodeTarget({ ...encodeTarget(at, target), spec } as unknown as Item);
  };
  for (const [handler, whole, missing] of rows)
    test(`${handler} without ${missing}`, () => {
      assert.equal(decodedWith(handler, whole).kind, 'ok');
      const detail = poisonDetail(decodedWith(handler, {}));
      assert.ok(detail.startsWith(`spec.containers.0.readinessProbe.${handler}.${missing}: `), detail);
    });
});

test('an event leaves seven days after its time', () =>
  assert.equal(encodeEvent(at, event).expiresAt, 1_700_000_000 + eventRetentionSeconds));

test('an update to a record removes what the record no longer has', async () => {
  const store = sqliteStore({ path: ':memory:' });
  const failed = encodeProbe(at, { ...probe, result: 'failure', lastResult: 'failure', failureClass: 'DNS' });
  await store.write([{ kind: 'put', item: failed }], { token: 'a' });
  await store.write([{ ...updateTo(encodeProbe(at, probe)), if: [{ kind: 'exists' }] }], { token: 'b' });
  assert.deepEqual(await store.get({ pk: failed.pk, sk: failed.sk }), encodeProbe(at, probe));
  store.close();
});

describe('the time of the last change', () => {
  const changed = { ...probe, lastChangeTimeMs: 5 };
  const { lastProbeTimeMs, ...rest } = encodeProbe(at, changed);

  test('has the name that a release before this one reads', () => assert.equal(lastProbeTimeMs, 5));

  test('is read by the name that a later release may write, too', () => {
    const later = { ...rest, lastChangeTimeMs: 5 };
    assert.deepEqual(decodeProbe(later), { kind: 'ok', record: changed });
  });

  test('is what this release wrote last over an item of a later one', async () => {
    const store = sqliteStore({ path: ':memory:' });
    await store.write([{ kind: 'put', item: { ...rest, lastChangeTimeMs: 4 } }], { token: 'a' });
    await store.write([updateTo(encodeProbe(at, changed))], { token: 'b' });
    const item = await store.get({ pk: rest.pk, sk: rest.sk });
    assert.deepEqual(item && decodeProbe(item), { kind: 'ok', record: changed });
    store.close();
  });

  test('leaves the item with a record that has none', async () => {
    const store = sqliteStore({ path: ':memory:' });
    await store.write([{ kind: 'put', item: encodeProbe(at, changed) }], { token: 'a' });
    await store.write([updateTo(encodeProbe(at, probe))], { token: 'b' });
    assert.deepEqual(await store.get({ pk: rest.pk, sk: rest.sk }), encodeProbe(at, probe));
    store.close();
  });
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
