import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seenTarget } from '../../shared/alerts/seen.ts';
import { targetRecordOf } from '../support/pods.ts';
import { alertWorld, kindsOf, rulesOf, seen, startMs } from './alert-world.ts';

test('a status that cannot be read ends no incident of a requested restart', () => {
  const target = targetRecordOf({});
  const { namespace, name, uid } = target;
  const world = alertWorld(rulesOf(''));
  const { event } = seen(name, 'True');
  const restart = { sinceMs: world.nowMs(), message: 'restart requested', event };
  world.take(seen(name, 'True', { namespace, uid, restart }));
  assert.deepEqual(kindsOf(world.pass(10)), [`firing ${name}`]);
  world.take(seenTarget({ target, probes: {} }, world.nowMs()));
  assert.deepEqual(world.pass(10), []);
  world.take(seen(name, 'True', { namespace, uid }));
  assert.deepEqual(kindsOf(world.pass(10)), [`resolved ${name}`]);
});

test('a status that cannot be read is one of version 0', () => {
  const found = seenTarget({ target: targetRecordOf({}), probes: {} }, startMs);
  assert.equal(found.kind, 'target');
  if (found.kind !== 'target') return;
  const { detail } = found.event as { readonly detail: { readonly resourceVersion: string } };
  assert.equal(detail.resourceVersion, '0');
});
