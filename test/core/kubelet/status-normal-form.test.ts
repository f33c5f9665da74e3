/** A status as the API server would have stored it. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { normalStatus } from '../../../shared/core/kubelet/status-update.ts';
import { conditionOf, containerStatusOf, podStatusOf, specOf } from '../../support/pods.ts';

const spec = specOf({ containers: [{ name: 'app' }], initContainers: [{ name: 'z' }, { name: 'y' }] });

describe('the normal form of a status', () => {
  test('has whole seconds', () => {
    const startedAtMs = 7_999;
    const normal = normalStatus(
      spec,
      podStatusOf({
        startTimeMs: 1_500,
        conditions: [conditionOf('Ready', 'True', { lastTransitionTimeMs: 5_001 })],
        containerStatuses: [containerStatusOf('app', { kind: 'running', startedAtMs })],
      }),
    );
    assert.equal(normal.startTimeMs, 1_000);
    assert.equal(normal.conditions[0]?.lastTransitionTimeMs, 5_000);
    assert.deepEqual(normal.containerStatuses[0]?.state, { kind: 'running', startedAtMs: 7_000 });
  });

  test('has no start time if none is known', () => {
    const { startTimeMs: _, ...unknown } = podStatusOf({});
    assert.ok(!('startTimeMs' in normalStatus(spec, unknown)));
  });

  test('has containers by name, and init containers as in the spec', () => {
    const waiting = { kind: 'waiting' } as const;
    const of = (...names: readonly string[]) => names.map((name) => containerStatusOf(name, waiting));
    const normal = normalStatus(
      spec,
      podStatusOf({ containerStatuses: of('b', 'c', 'a'), initContainerStatuses: of('x', 'y', 'z') }),
    );
    assert.deepEqual(
      normal.containerStatuses.map(({ name }) => name),
      ['a', 'b', 'c'],
    );
    assert.deepEqual(
      normal.initContainerStatuses.map(({ name }) => name),
      ['z', 'y', 'x'],
    );
  });
});
