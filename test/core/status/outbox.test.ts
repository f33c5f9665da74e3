import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { OutboxEvent, ShownStatus } from '../../../shared/core/spec/records.ts';
import { boundedOutbox, entryName, outboxBytesMax } from '../../../shared/core/status/outbox.ts';

const shown = (version: number, message: string): ShownStatus => ({
  phase: 'Running',
  conditions: [{ type: 'Version', status: 'True', reason: String(version), message }],
  containers: [],
});

const change = (version: number, padding = 0): OutboxEvent => ({
  id: `u1/status/${version}`,
  detailType: 'Target Status Changed',
  timeMs: version,
  detail: {
    resourceVersion: String(version),
    oldStatus: shown(version - 1, 'x'.repeat(padding)),
    newStatus: shown(version, 'é'.repeat(padding)),
  },
});

const request = (container: string, incarnation: number): OutboxEvent => ({
  id: `u1/${container}/restart/${incarnation}`,
  detailType: 'Container Restart Requested',
  timeMs: incarnation,
  detail: {
    container,
    containerID: `test://${incarnation}`,
    probeType: 'liveness',
    message: 'x'.repeat(400),
    attempt: 1,
    restartPolicy: 'Always',
    terminationGracePeriodSeconds: 30,
  },
});

test('an event that comes back has a name of its own for each of its times', () => {
  const [first, ...others] = [
    request('app', 1),
    { ...request('app', 1), timeMs: 2 },
    request('app', 2),
    request('side', 1),
    change(1),
  ].map(entryName);
  assert.ok(!others.includes(first ?? ''));
  assert.equal(new Set(others).size, others.length);
  assert.equal(entryName(request('app', 1)), first);
});

/** As status-sync does it, while the bus takes nothing. */
function refused(events: readonly OutboxEvent[]): readonly OutboxEvent[] {
  let outbox: readonly OutboxEvent[] = [];
  for (const event of events) outbox = boundedOutbox([...outbox, event]);
  return outbox;
}

const bytesOf = (events: readonly OutboxEvent[]) => Buffer.byteLength(JSON.stringify(events));
const idsOf = (events: readonly OutboxEvent[]) => events.map(({ id }) => id);
/** The versions of the status before and after. */
function versionsOf(event: OutboxEvent): readonly [number, number] {
  assert.ok(event.detailType === 'Target Status Changed');
  const { oldStatus, newStatus } = event.detail;
  return [Number(oldStatus.conditions[0]?.reason), Number(newStatus.conditions[0]?.reason)];
}

describe('an outbox that the bus refuses', () => {
  test('keeps everything, each request once, as long as it is small', () => {
    const events = [change(1), request('a', 1), change(2), request('b', 1), request('a', 1)];
    assert.deepEqual(idsOf(refused(events)), idsOf([change(1), change(2), request('b', 1), request('a', 1)]));
  });

  test('keeps the newest attempt of a request, not those before it', () => {
    const attempt = (number: number): OutboxEvent => ({
      ...request('a', 1),
      id: `u1/a/restart/1/${number}`,
      timeMs: number,
    });
    const other = { ...request('b', 1), id: 'u1/b/restart/1/1' };
    assert.deepEqual(idsOf(refused([attempt(1), other, attempt(2), attempt(3)])), [
      'u1/b/restart/1/1',
      'u1/a/restart/1/3',
    ]);
  });

  test('stays small, and has the newest status and every request', () => {
    const events = Array.from({ length: 500 }, (_, at) => change(at + 1, 500)).flatMap((event, at) =>
      at % 10 === 0 ? [event, request('a', at)] : [event],
    );
    const kept = refused(events);
    assert.ok(bytesOf(kept) < outboxBytesMax + 1_024, `${bytesOf(kept)} bytes`);
    assert.equal(kept.filter(({ detailType }) => detailType === 'Container Restart Requested').length, 50);
    const changes = kept.filter(({ detailType }) => detailType === 'Target Status Changed');
    assert.equal(changes.at(-1)?.id, 'u1/status/500');
    assert.ok(changes.length > 10);
  });

  test('has no gap: each change begins where the one before it ended', () => {
    const changes = refused(Array.from({ length: 500 }, (_, at) => change(at + 1, 500))).map(versionsOf);
    assert.equal(changes[0]?.[0], 0);
    for (const [at, [before]] of changes.entries()) if (at > 0) assert.equal(before, changes[at - 1]?.[1]);
  });

  test('drops a request only when its container has failed again with another ID, and the newest of none', () => {
    const events = Array.from({ length: 1_000 }, (_, at) => request(at % 100 === 0 ? 'b' : 'a', at));
    const kept = refused(events);
    assert.ok(bytesOf(kept) < outboxBytesMax + 1_024);
    assert.deepEqual([kept.at(-1)?.id, kept.some(({ id }) => id === 'u1/b/restart/900')], ['u1/a/restart/999', true]);
    assert.ok(kept.length > 200);
  });

  test('keeps one change and one request of each container, however large', () => {
    const containers = Array.from({ length: 20 }, (_, at) => `c${at}`);
    const events = [change(1, 60_000), change(2, 60_000), ...containers.map((name) => request(name, 1))];
    const kept = refused(events);
    assert.deepEqual(idsOf(kept), ['u1/status/2', ...containers.map((name) => `u1/${name}/restart/1`)]);
  });
});
