import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type PodStatusInput, updatePodStatus } from '../../../shared/core/kubelet/pod-status.ts';
import { probeName } from '../../../shared/core/spec/spec.ts';
import { containerStatusOf, running, specOf, tcpProbe } from '../../support/pods.ts';

const input: PodStatusInput = {
  spec: specOf({ containers: [{ name: 'app', readinessProbe: tcpProbe }] }),
  initContainerStatuses: [],
  containerStatuses: [containerStatusOf('app', running)],
  workers: new Set(),
  cached: () => undefined,
  podWasReady: false,
  era: { changeContainerStatusOnKubeletRestart: true, kubeletStartMs: 0 },
};

describe('started and ready', () => {
  test('a malformed container ID is looked up as the empty one', () => {
    const asked: string[] = [];
    updatePodStatus({
      ...input,
      containerStatuses: [containerStatusOf('app', running, { containerID: 'nonsense' })],
      cached: (_, containerID) => {
        asked.push(containerID);
        return undefined;
      },
    });
    assert.deepEqual(new Set(asked), new Set(['://']));
  });

  test('a started container whose readiness is not known triggers its readiness worker', () => {
    const readiness = probeName('app', 'readiness');
    const updated = updatePodStatus({ ...input, workers: new Set([readiness]) });
    assert.deepEqual(updated.triggered, [readiness]);
    assert.equal(updated.containerStatuses[0]?.ready, false);
  });

  test('a readiness success wins over a pod that was not ready before kubelet started', () => {
    const updated = updatePodStatus({
      ...input,
      cached: (probeType) => (probeType === 'readiness' ? 'success' : undefined),
      era: { changeContainerStatusOnKubeletRestart: false, kubeletStartMs: 60_000 },
    });
    assert.equal(updated.containerStatuses[0]?.ready, true);
  });

  test('ten seconds before kubelet is not long enough for the benefit of the doubt', () => {
    const readyIfStartedAt = (startedAtMs: number) =>
      updatePodStatus({
        ...input,
        containerStatuses: [containerStatusOf('app', { kind: 'running', startedAtMs })],
        workers: new Set([probeName('app', 'readiness')]),
        podWasReady: true,
        era: { changeContainerStatusOnKubeletRestart: false, kubeletStartMs: 60_000 },
      }).containerStatuses[0]?.ready;
    assert.deepEqual([readyIfStartedAt(50_000), readyIfStartedAt(49_999)], [false, true]);
  });

  test('everything else of a status is kept', () => {
    const status = containerStatusOf('app', running, { restartCount: 3, lastState: running });
    const updated = updatePodStatus({ ...input, containerStatuses: [status] });
    assert.deepEqual(updated.containerStatuses, [{ ...status, started: true, ready: true }]);
  });
});
