import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Incarnation } from '../../shared/core/records.ts';
import type { PlacedContainer, TargetSpec } from '../../shared/core/spec.ts';
import { firstIncarnation, killed, restarted, staticContainerStatus } from '../../shared/core/static-lifecycle.ts';
import { specOf, targetRecordOf } from '../support/pods.ts';

const app: PlacedContainer = { kind: 'container', spec: { name: 'app' } };
const placedIn = (fields: Partial<TargetSpec> = {}, container = app) => ({
  target: targetRecordOf({ spec: specOf({ lifecycle: 'static', ...fields }) }),
  container,
});

/** Waits in s before each of so many restarts of a container that fails as soon as it runs. */
function waitsOf(count: number): readonly number[] {
  const waits: number[] = [];
  let incarnation = firstIncarnation(0);
  let nowMs = 0;
  while (waits.length < count) {
    const before = nowMs;
    incarnation = killed(placedIn(), incarnation, nowMs);
    if (incarnation.restartAtMs !== undefined) {
      nowMs = incarnation.restartAtMs;
      incarnation = restarted(incarnation, nowMs);
    }
    waits.push((nowMs - before) / 1000);
  }
  return waits;
}

describe('a static container that fails', () => {
  test('restarts at once, then after kubelet’s back-off', () => {
    assert.deepEqual(waitsOf(9), [0, 10, 20, 40, 80, 160, 300, 300, 300]);
  });

  test('restarts at once again when it has run for ten minutes', () => {
    const crashing: Incarnation = { ...firstIncarnation(0), restartCount: 4, backoffMs: 80_000 };
    assert.equal(killed(placedIn(), crashing, 599_999).restartAtMs, 679_999);
    const after = killed(placedIn(), crashing, 600_000);
    assert.equal(after.restartAtMs, undefined);
    assert.deepEqual([after.restartCount, after.backoffMs], [5, 10_000]);
  });

  test('has another containerID after each restart', () => {
    const first = firstIncarnation(0);
    const ids = [first, killed(placedIn(), first, 1)].map(
      (incarnation) => staticContainerStatus(placedIn(), incarnation).containerID,
    );
    assert.deepEqual(ids, ['probelet://u1/app/0', 'probelet://u1/app/1']);
  });

  test('waits in CrashLoopBackOff with kubelet’s text', () => {
    const crashing: Incarnation = { ...firstIncarnation(0), restartCount: 5, backoffMs: 160_000 };
    const status = staticContainerStatus(placedIn(), killed(placedIn(), crashing, 1_000));
    assert.deepEqual(status.state, {
      kind: 'waiting',
      reason: 'CrashLoopBackOff',
      message: 'back-off 2m40s restarting failed container=app pod=checkout_default(u1)',
    });
    assert.deepEqual(status.lastState, {
      kind: 'terminated',
      exitCode: 137,
      reason: 'Error',
      startedAtMs: 0,
      finishedAtMs: 1_000,
    });
  });

  const ends = (restartPolicy: TargetSpec['restartPolicy'], container = app) =>
    killed(placedIn({ restartPolicy }, container), firstIncarnation(0), 1).terminated;

  test('ends where the policy is Never', () => {
    assert.deepEqual([ends('Never'), ends('OnFailure'), ends('Always')], [true, false, false]);
  });

  test('restarts by its own policy before the target’s, and always as a sidecar', () => {
    assert.equal(ends('Never', { kind: 'container', spec: { name: 'app', restartPolicy: 'Always' } }), false);
    assert.equal(ends('Always', { kind: 'container', spec: { name: 'app', restartPolicy: 'Never' } }), true);
    assert.equal(ends('Never', { kind: 'restartableInit', spec: { name: 'side', restartPolicy: 'Always' } }), false);
  });
});

test('an ordinary init container of a static target counts as done', () => {
  const status = staticContainerStatus(placedIn({}, { kind: 'init', spec: { name: 'init' } }), firstIncarnation(0));
  assert.ok(status.state?.kind === 'terminated' && status.state.exitCode === 0);
});
