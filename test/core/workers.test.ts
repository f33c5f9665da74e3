import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { ContainerSpec, Probe } from '../../shared/core/spec.ts';
import { addPod, cleanupPods, removePod, stopLivenessAndStartup } from '../../shared/core/workers.ts';

const probe: Probe = {
  tcpSocket: { port: 80 },
  initialDelaySeconds: 0,
  periodSeconds: 10,
  timeoutSeconds: 1,
  successThreshold: 1,
  failureThreshold: 3,
};
const all = { startupProbe: probe, readinessProbe: probe, livenessProbe: probe };
const containers: readonly ContainerSpec[] = [
  { name: 'a', ...all },
  { name: 'b', readinessProbe: probe },
];
const initContainers: readonly ContainerSpec[] = [
  { name: 'init', ...all },
  { name: 'side', restartPolicy: 'Always', livenessProbe: probe },
];
const pod = { uid: 'u', spec: { containers, initContainers } };
const everyWorker = ['a#startup', 'a#readiness', 'a#liveness', 'b#readiness', 'side#liveness'];

/** Semantics, difference 2. */
const addTable: readonly (readonly [existing: readonly string[], returned: string[], continued: string[]])[] = [
  [[], everyWorker, everyWorker],
  [['u/a/startup'], [], everyWorker.slice(1)],
  [['u/a/liveness'], ['a#startup', 'a#readiness'], everyWorker.filter((name) => name !== 'a#liveness')],
  [['u/side/liveness'], everyWorker.slice(0, 4), everyWorker.slice(0, 4)],
  [['other/a/startup'], everyWorker, everyWorker],
];

describe('AddPod', () => {
  for (const [existing, returned, continued] of addTable)
    test(`with ${existing.join() || 'nothing'} there, returns or continues`, () => {
      const names = (onExisting: 'return' | 'continue') =>
        addPod(new Set(existing), pod, onExisting).map(({ name }) => name);
      assert.deepEqual(names('return'), returned);
      assert.deepEqual(names('continue'), continued);
    });
});

describe('stopping', () => {
  const existing = new Set(['u/a/startup', 'u/a/readiness', 'u/side/liveness', 'u/init/startup', 'v/a/liveness']);

  test('for termination leaves readiness and sidecars', () => {
    assert.deepEqual(stopLivenessAndStartup(existing, pod), ['u/a/startup']);
  });
  test('of a removed target takes every container but ordinary init containers', () => {
    assert.deepEqual(removePod(existing, pod), ['u/a/startup', 'u/a/readiness', 'u/side/liveness']);
  });
  test('of undesired targets takes all of theirs', () => {
    assert.deepEqual(cleanupPods(existing, new Set(['u'])), ['v/a/liveness']);
  });
});
