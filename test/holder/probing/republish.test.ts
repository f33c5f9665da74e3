import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { BusEvent } from '../../../shared/bus/events.ts';
import type { EventRecord, ProbeRecord } from '../../../shared/core/spec/records.ts';
import { newProbeRecord } from '../../../shared/core/status/observed.ts';
import type { Holder } from '../../../shared/holder/holder.ts';
import { publishAgain } from '../../../shared/holder/probing/timekeeper.ts';
import type { HeldTarget } from '../../../shared/holder/probing/worker.ts';
import { encodeEvent, encodeLatest } from '../../../shared/store/records/items.ts';
import { targetAddress } from '../../../shared/store/records/keys.ts';
import type { Item, Key } from '../../../shared/store/store.ts';
import { targetRecordOf } from '../../support/pods.ts';

const name = 'app#readiness';
const added = newProbeRecord('u1', { container: { kind: 'container', spec: { name: 'app' } }, probeType: 'readiness' });
const record = { ...added, containerID: 'test://1', result: 'failure', version: 3, sinceMs: 1_000 } as const;
const address = targetAddress('default', 'checkout');

/** What is published of a result that another run committed, of which these items are left. */
async function publishedOf(stored: readonly Item[], present: ProbeRecord = record): Promise<readonly BusEvent[]> {
  const published: BusEvent[] = [];
  const get = async (key: Key) => stored.find(({ pk, sk }) => pk === key.pk && sk === key.sk);
  const holder = {
    run: { ports: { store: { get } } },
    publisher: { publish: (events: readonly BusEvent[]) => void published.push(...events) },
  } as unknown as Holder;
  const held = {
    address,
    target: targetRecordOf(),
    records: new Map([[name, present]]),
    unacked: new Map([[name, { version: 3, publishedAtMs: Number.NEGATIVE_INFINITY, sinceMs: 0 }]]),
  } as unknown as HeldTarget;
  await publishAgain(holder, held, 60_000);
  return published;
}

const event: EventRecord = {
  id: '00000000001000#app#readiness#~0000000003',
  uid: 'u1',
  timeMs: 1_000,
  kind: 'transition',
  type: 'Warning',
  reason: 'ProbeResultChanged',
  message: 'readiness of app: success -> failure',
  container: 'app',
  probeType: 'readiness',
  containerID: 'test://1',
  result: 'failure',
  previousResult: 'success',
  count: 1,
  attempts: [{ timeMs: 900, outcome: 'failure', output: 'refused', timings: { totalMs: 1 } }],
};

const copyOf = (of: EventRecord) => encodeLatest(address, name, of);

for (const [where, stored] of [
  ['the event history, while a purge has removed the copy', [encodeEvent(address, event)]],
  ['the copy alone', [copyOf(event)]],
  [
    'the event history beside the copy of a later one',
    [encodeEvent(address, event), copyOf({ ...event, id: '00000000002000#app#readiness#~0000000004' })],
  ],
] as const)
  test(`a result of the run before is published with what led to it, from ${where}`, async () => {
    const [publishedEvents] = await publishedOf(stored);
    assert.ok(publishedEvents && 'previousResult' in publishedEvents.detail);
    assert.deepEqual([publishedEvents.detail.previousResult, publishedEvents.detail.attempts.length], ['success', 1]);
  });

test('the end of a worker of which nothing is left is no change, and STATUS takes it in', async () => {
  const { result: _, ...ended } = { ...record, ended: true };
  const events = await publishedOf([], ended);
  assert.deepEqual(
    events.map(({ detailType }) => detailType),
    ['Target Sync Requested'],
  );
});

test('a result whose transition is left nowhere is published without its attempts', async () => {
  const [publishedEvents, ...more] = await publishedOf([]);
  assert.deepEqual(more, []);
  assert.ok(publishedEvents && 'result' in publishedEvents.detail && 'attempts' in publishedEvents.detail);
  const { result, version, attempts } = publishedEvents.detail;
  assert.deepEqual([result, version, attempts], ['failure', 3, []]);
});

describe('what was committed of another container than the present one is published of that container', () => {
  const { result: _, ...without } = record;
  const unknown = { reason: 'PolicyDenied', failureClass: 'POLICY_DENIED', message: 'denied' } as const;
  for (const [what, present, result] of [
    ['a verdict', without, 'failure'],
    ['the end of its worker', { ...without, ended: true }, undefined],
    ['that its worker has begun anew', without, undefined],
    ['that it cannot be probed', { ...without, unknown }, 'unknown'],
  ] as const)
    test(what, async () => {
      const { result: _result, ...transition } = event;
      const stored = encodeEvent(address, { ...transition, ...(result && { result }) });
      const [published] = await publishedOf([stored], { ...present, containerID: 'test://2' });
      assert.ok(published?.detailType === 'Probe Result Changed');
      assert.deepEqual([published.detail.containerID, published.detail.result], ['test://1', result]);
    });
});
