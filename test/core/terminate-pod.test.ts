import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { ContainerSpec } from '../../shared/core/spec.ts';
import { terminatedStatus } from '../../shared/core/terminate-pod.ts';
import type { ContainerStatus } from '../../shared/core/types.ts';
import { containerStatusOf, crashed, exited, podStatusOf, running, sidecar, waiting } from '../support/pods.ts';

/** Exit codes of init and regular containers afterwards; `-`: not terminated. */
function codes(
  initContainers: readonly ContainerSpec[],
  init: readonly ContainerStatus[],
  app: ContainerStatus,
): string {
  const before = podStatusOf({ initContainerStatuses: init, containerStatuses: [app] });
  const after = terminatedStatus({ initContainers }, before, before);
  const code = ({ state }: ContainerStatus) => (state?.kind === 'terminated' ? `${state.exitCode}` : '-');
  return [...after.initContainerStatuses, ...after.containerStatuses].map(code).join(' ');
}

describe('the end of a pod', () => {
  const init = [{ name: 'i' }, { name: 'j' }];
  const app = containerStatusOf('app', waiting);
  const i = (status: Partial<ContainerStatus>) => containerStatusOf('i', undefined, status);
  const j = containerStatusOf('j', waiting);

  test('without init containers everything that had not ended is lost', () => {
    assert.equal(codes([], [], app), '137');
    assert.equal(codes([], [], containerStatusOf('app', exited(0))), '0');
  });

  test('init containers are lost up to the last one that ever began, the first in any case', () => {
    assert.equal(codes(init, [i({ state: waiting }), j], app), '137 - -');
    assert.equal(codes(init, [i({ state: running }), crashed('j', 1)], app), '137 137 -');
    assert.equal(codes(init, [i({ state: exited(1) }), j], app), '1 - -');
  });

  test('regular containers are lost once the last init container had been done', () => {
    assert.equal(codes(init, [i({ state: exited(0) }), containerStatusOf('j', exited(0))], app), '0 0 137');
    assert.equal(codes(init, [i({ state: exited(0) }), crashed('j', 0)], app), '0 137 137');
    assert.equal(codes(init, [i({ state: exited(0) }), j], containerStatusOf('app', running)), '0 - 137');
  });

  test('a sidecar in the last place counts when it has started', () => {
    const side = (started: boolean) => [containerStatusOf('s', running, { started })];
    assert.equal(codes([sidecar('s')], side(true), app), '137 137');
    assert.equal(codes([sidecar('s')], side(false), app), '137 -');
  });

  test('an ended phase is kept, any other becomes Failed', () => {
    const phases = (['Pending', 'Running', 'Unknown', 'Succeeded', 'Failed'] as const).map(
      (phase) => terminatedStatus({ initContainers: [] }, podStatusOf({}), podStatusOf({ phase })).phase,
    );
    assert.deepEqual(phases, ['Failed', 'Failed', 'Failed', 'Succeeded', 'Failed']);
  });
});
