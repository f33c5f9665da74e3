import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  emptyStatusManager,
  getPodStatus,
  observePodStatus,
  type Pod,
  type StatusManager,
  setPodStatus,
  terminatePod,
  withPod,
} from '../../shared/core/status-manager.ts';
import { type StoredPods, type Sync, type SyncOptions, syncBatch } from '../../shared/core/status-sync.ts';
import type { PodStatus } from '../../shared/core/types.ts';
import { conditionOf, containerStatusOf, exited, podOf, podStatusOf, running } from '../support/pods.ts';

const nowMs = 100_000;
const stored = (pod: Pod, status: PodStatus = pod.status): StoredPods => new Map([[pod.name, { ...pod, status }]]);
const withStatus = (pod: Pod, status: PodStatus): StatusManager =>
  setPodStatus(withPod(emptyStatusManager, pod), pod, status, 0).manager;
const verbs = (sync: Sync): string => sync.calls.map(({ verb }) => verb).join(' ');

function syncOnce(
  manager: StatusManager,
  pods: StoredPods,
  options: Partial<SyncOptions> & { running?: boolean } = {},
): Sync {
  return syncBatch(manager, pods, {
    all: options.all ?? false,
    couldHaveRunningContainers: () => options.running ?? false,
    nowMs,
  });
}

const runs = podStatusOf({ containerStatuses: [containerStatusOf('app', running)] });
const fails = podStatusOf({ phase: 'Failed', reason: 'Why', containerStatuses: [containerStatusOf('app', exited(1))] });

describe('writing back', () => {
  test('a status is written once', () => {
    const pod = podOf();
    const first = syncOnce(withStatus(pod, runs), stored(pod));
    const second = syncOnce(first.manager, first.stored);
    assert.deepEqual([verbs(first), verbs(second), second.synced], ['get patch/status', '', 0]);
  });

  test('a pod that is gone from the server is asked for and no more', () => {
    const sync = syncOnce(withStatus(podOf(), runs), new Map());
    assert.equal(verbs(sync), 'get');
    assert.equal(syncOnce(sync.manager, sync.stored).synced, 1, 'it was not sent');
  });

  test('a pod of the same name and another uid costs the status of the old one', () => {
    const sync = syncOnce(withStatus(podOf(), runs), stored(podOf({ uid: 'p2' })));
    assert.deepEqual([verbs(sync), sync.manager.statuses.size], ['get', 0]);
  });

  test('what somebody else changed is repaired by the full pass only', () => {
    const pod = podOf();
    const first = syncOnce(withStatus(pod, runs), stored(pod));
    const meddled = observePodStatus(pod, podStatusOf({ phase: 'Pending' }));
    const manager = withPod(first.manager, meddled);
    assert.equal(syncOnce(manager, stored(meddled)).synced, 0);
    const repaired = syncOnce(manager, stored(meddled), { all: true });
    assert.deepEqual([verbs(repaired), repaired.stored.get(pod.name)?.status.phase], ['get patch/status', 'Running']);
  });

  test('a repair that finds the pod gone is tried again', () => {
    const pod = podOf();
    const sent = syncOnce(withStatus(pod, runs), stored(pod)).manager;
    const repaired = syncOnce(sent, new Map(), { all: true });
    assert.deepEqual([verbs(repaired), syncOnce(repaired.manager, new Map()).synced], ['get', 1]);
  });
});

describe('a terminal phase', () => {
  const pod = podOf();

  test('is held back with its reason while containers could run', () => {
    const before = podStatusOf({ phase: 'Running', message: 'as stored' });
    const sync = syncOnce(withStatus(pod, fails), stored(pod, before), { running: true });
    const { phase, reason, message } = sync.stored.get(pod.name)?.status ?? runs;
    assert.deepEqual({ phase, reason, message }, { phase: 'Running', reason: undefined, message: 'as stored' });
  });

  test('comes with Ready and ContainersReady False', () => {
    const conditions = [conditionOf('Ready', 'True'), conditionOf('example.org/mine', 'True')];
    const sync = syncOnce(withStatus(pod, { ...fails, conditions }), stored(pod));
    assert.deepEqual(
      sync.stored.get(pod.name)?.status.conditions.map(({ type, status, reason }) => [type, status, reason]),
      [
        ['Ready', 'False', 'PodFailed'],
        ['ContainersReady', 'False', 'PodFailed'],
      ],
    );
  });

  test('brings DisruptionTarget, with the time of the sending, and not before', () => {
    const manager = withStatus(pod, { ...fails, conditions: [conditionOf('DisruptionTarget', 'True')] });
    const held = syncOnce(manager, stored(pod), { running: true });
    assert.deepEqual(held.stored.get(pod.name)?.status.conditions, []);
    const sent = syncOnce(manager, stored(pod));
    const disruption = conditionOf('DisruptionTarget', 'True', { lastTransitionTimeMs: nowMs });
    assert.deepEqual(sent.stored.get(pod.name)?.status.conditions, [disruption]);
    assert.deepEqual(getPodStatus(sent.manager, pod.uid)?.conditions, [disruption]);
  });
});

describe('deletion', () => {
  const pod = podOf({ deletionTimestampSet: true });

  test('follows the write that shows the end of a finished pod', () => {
    const manager = terminatePod(withStatus(pod, runs), pod, 0).manager;
    const sync = syncOnce(manager, stored(pod));
    assert.deepEqual([verbs(sync), sync.stored.size, sync.manager.statuses.size], ['get patch/status delete', 0, 0]);
  });

  test('waits while containers could run', () => {
    const manager = terminatePod(withStatus(pod, runs), pod, 0).manager;
    assert.equal(verbs(syncOnce(manager, stored(pod), { running: true })), 'get patch/status');
  });

  test('waits for the end that nobody has finished', () => {
    assert.equal(verbs(syncOnce(withStatus(pod, fails), stored(pod))), 'get patch/status');
  });
});
