import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EventRecord } from '../../../shared/core/spec/records.ts';
import { newProbeRecord } from '../../../shared/core/status/observed.ts';
import { type Commit, WaitingCommits } from '../../../shared/holder/commit/plan.ts';
import { targetAddress } from '../../../shared/store/records/keys.ts';
import { unhealthyEvent } from '../../support/unhealthy-event.ts';

const event = unhealthyEvent('u1');

/** A commit of the only probe of a target. */
function commitOf(number: number, bucket: string, events: readonly EventRecord[] = []): { readonly commit: Commit } {
  const before = newProbeRecord(`u${number}`, {
    container: { kind: 'container', spec: { name: 'app' } },
    probeType: 'readiness',
  });
  const address = { ...targetAddress('default', `target-${number}`), bucket };
  return { commit: { address, before, after: undefined, events, latest: undefined } };
}

const bucketOf = (number: number): string => number.toString(16).padStart(2, '0');

// DynamoDB takes 100 operations: in a bucket of its own a commit needs its fence, its item and its events.
for (const [what, events, most] of [
  ['no event', [], 50],
  ['one event', [event], 33],
  ['two events', [event, event], 25],
] as const)
  test(`of commits with ${what} in as many buckets, ${most} make a transaction`, () => {
    const waiting = new WaitingCommits();
    for (let number = 0; number < 60; number += 1) waiting.add(commitOf(number, bucketOf(number), events));
    assert.equal(waiting.take(0, 100).length, most);
    assert.equal(waiting.take(0, 100).length, Math.min(most, 60 - most));
  });

test('commits of one bucket share its fence', () => {
  const waiting = new WaitingCommits();
  for (let number = 0; number < 120; number += 1) waiting.add(commitOf(number, 'a7'));
  assert.equal(waiting.take(0, 100).length, 99);
});

test('a bucket that has been written rests 4 ms for each operation, its fence included', () => {
  const waiting = new WaitingCommits();
  for (let number = 0; number < 3; number += 1) waiting.add(commitOf(number, 'a7'));
  const group = waiting.take(1_000, 100);
  waiting.add(commitOf(3, 'a7'));
  assert.equal(waiting.readyAtMs(), Number.POSITIVE_INFINITY, 'while it is being written');
  waiting.written(group, 1_000);
  assert.equal(waiting.readyAtMs(), 1_016);
  assert.deepEqual(waiting.take(1_015, 100), []);
  assert.equal(waiting.take(1_016, 100).length, 1);
});

test('a smaller transaction holds fewer, and at least the first one', () => {
  const waiting = new WaitingCommits();
  for (let number = 0; number < 10; number += 1) waiting.add(commitOf(number, bucketOf(number), [event]));
  assert.equal(waiting.take(0, 9).length, 3);
  assert.equal(waiting.take(0, 2).length, 1);
  assert.equal(waiting.take(0, 3).length, 1);
});

test('what was not executed comes first again, each before later commits of its bucket', () => {
  const waiting = new WaitingCommits<ReturnType<typeof commitOf>>();
  const [first, second, other, later] = [
    commitOf(1, 'a7'),
    commitOf(2, 'a7'),
    commitOf(3, 'b0'),
    commitOf(4, 'a7'),
  ] as const;
  waiting.add(first);
  waiting.add(second);
  const group = waiting.take(0, 100);
  waiting.add(other);
  waiting.add(later);
  waiting.putBack(group);
  waiting.written(group, 0);
  assert.deepEqual(waiting.take(12, 100), [first, second, later, other]);
});
