import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { nextStatus } from '../../../shared/core/kubelet/status-update.ts';
import type { TargetSpec } from '../../../shared/core/spec/spec.ts';
import type { ContainerStatus, PodStatus } from '../../../shared/core/spec/types.ts';
import { conditionOf, containerStatusOf, exited, podStatusOf, running, sidecar, specOf } from '../../support/pods.ts';

const nowMs = 90_000;
const old = podStatusOf({ startTimeMs: 1000, containerStatuses: [containerStatusOf('app', running)] });

const changed = (next: PodStatus, spec = specOf({}), from = old): PodStatus => {
  const step = nextStatus({ spec, old: from, next, nowMs });
  assert.equal(step.kind, 'changed');
  return step.kind === 'changed' ? step.status : next;
};

describe('what counts as a change', () => {
  const ready = conditionOf('Ready', 'True', { lastTransitionTimeMs: 5000, observedGeneration: 1 });
  const from = { ...old, conditions: [ready] };
  const same: readonly (readonly [string, PodStatus])[] = [
    ['an equal status', from],
    [
      'a time within the same second',
      { ...from, containerStatuses: [containerStatusOf('app', { kind: 'running', startedAtMs: 999 })] },
    ],
    ['a foreign condition', { ...from, conditions: [ready, conditionOf('example.org/gate', 'True')] }],
    ['the generation a condition has seen', { ...from, conditions: [{ ...ready, observedGeneration: 2 }] }],
    ['another start time', { ...from, startTimeMs: 8000 }],
  ];
  for (const [name, next] of same)
    test(`${name} is none`, () =>
      assert.deepEqual(nextStatus({ spec: specOf({}), old: from, next, nowMs }), { kind: 'unchanged' }));

  const different: readonly (readonly [string, PodStatus])[] = [
    ['a reason', { ...from, conditions: [{ ...ready, reason: 'Why' }] }],
    ['a condition that goes', { ...from, conditions: [] }],
    ['a condition that comes', { ...from, conditions: [ready, conditionOf('DisruptionTarget', 'True')] }],
    [
      'started that nobody has said before',
      { ...from, containerStatuses: [containerStatusOf('app', running, { started: false })] },
    ],
    ['the phase', { ...from, phase: 'Pending' }],
  ];
  for (const [name, next] of different)
    test(`${name} is one`, () =>
      assert.equal(nextStatus({ spec: specOf({}), old: from, next, nowMs }).kind, 'changed'));

  test('a forced update is one even if nothing changed', () =>
    assert.equal(nextStatus({ spec: specOf({}), old: from, next: from, forced: true, nowMs }).kind, 'changed'));

  test('the result of a step is a fixed point of it', () => {
    const status = changed({ ...old, phase: 'Failed', conditions: [conditionOf('Ready', 'False')] });
    assert.deepEqual(nextStatus({ spec: specOf({}), old: status, next: status, nowMs: nowMs + 1 }), {
      kind: 'unchanged',
    });
  });
});

describe('times', () => {
  test('a condition keeps its time while its status is the same, and takes now when it turns', () => {
    const from = { ...old, conditions: [conditionOf('Ready', 'True', { lastTransitionTimeMs: 5000 })] };
    const kept = changed({ ...from, conditions: [conditionOf('Ready', 'True', { reason: 'New' })] }, specOf({}), from);
    const turned = changed({ ...from, conditions: [conditionOf('Ready', 'False')] }, specOf({}), from);
    assert.equal(kept.conditions[0]?.lastTransitionTimeMs, 5000);
    assert.equal(turned.conditions[0]?.lastTransitionTimeMs, nowMs);
  });

  test('a foreign condition keeps the time of its owner', () => {
    const gate = conditionOf('example.org/gate', 'True', { lastTransitionTimeMs: 7000 });
    assert.deepEqual(changed({ ...old, phase: 'Pending', conditions: [gate] }).conditions, [gate]);
  });

  test('the start time is set once', () => {
    const first = changed(podStatusOf({}), specOf({}), podStatusOf({ phase: 'Unknown' }));
    const second = nextStatus({
      spec: specOf({}),
      old: first,
      next: podStatusOf({ phase: 'Failed' }),
      nowMs: 2 * nowMs,
    });
    assert.equal(first.startTimeMs, nowMs);
    assert.equal(second.kind === 'changed' && second.status.startTimeMs, nowMs);
  });
});

describe('normal form', () => {
  test('containers are sorted by name, init containers as in the spec, strangers last', () => {
    const spec = specOf({
      initContainers: [{ name: 'z' }, { name: 'y' }],
      containers: [{ name: 'b' }, { name: 'a' }, { name: 'c' }],
    });
    const names = (statuses: readonly ContainerStatus[]) => statuses.map(({ name }) => name);
    const status = changed(
      podStatusOf({
        initContainerStatuses: ['x', 'y', 'z'].map((name) => containerStatusOf(name, running)),
        containerStatuses: ['b', 'a', 'c'].map((name) => containerStatusOf(name, running)),
      }),
      spec,
    );
    assert.deepEqual(
      [names(status.initContainerStatuses), names(status.containerStatuses)],
      [
        ['z', 'y', 'x'],
        ['a', 'b', 'c'],
      ],
    );
  });

  test('the times and the message of the state before are cut, too', () => {
    const ended = { kind: 'terminated', exitCode: 1, startedAtMs: 1_999, finishedAtMs: 2_001 } as const;
    const lastState = { ...ended, message: 'x'.repeat(20_000) };
    const { containerStatuses } = changed(
      podStatusOf({ containerStatuses: [containerStatusOf('app', running, { lastState })] }),
    );
    const cut = { ...ended, startedAtMs: 1_000, finishedAtMs: 2_000, message: 'x'.repeat(12 * 1024) };
    assert.deepEqual(containerStatuses[0]?.lastState, cut);
  });

  test('a termination message is cut to its share, never inside a character', () => {
    const message = `${'x'.repeat(6142)}日本`;
    const spec = specOf({ containers: [{ name: 'app' }, { name: 'b' }] });
    const status = changed(
      podStatusOf({ containerStatuses: [containerStatusOf('app', { kind: 'terminated', exitCode: 1, message })] }),
      spec,
    );
    const state = status.containerStatuses[0]?.state;
    assert.equal(state?.kind === 'terminated' && state.message, 'x'.repeat(6142));
  });
});

describe('a terminated container that runs again', () => {
  const outcome = (spec: Partial<TargetSpec>, exitCode: number, where: 'regular' | 'init' = 'regular') => {
    const list = where === 'init' ? 'initContainerStatuses' : 'containerStatuses';
    return nextStatus({
      spec: specOf(spec),
      old: podStatusOf({ [list]: [containerStatusOf('app', exited(exitCode))] }),
      next: podStatusOf({ [list]: [containerStatusOf('app', running)] }),
      nowMs,
    });
  };
  const refused = { kind: 'refused', reason: 'TerminatedContainerRestarted', container: 'app' };
  const rule = (action: 'Restart' | 'RestartAllContainers') => [{ action, operator: 'In', values: [3] } as const];

  test('is refused where the pod never restarts, or not after a success', () => {
    assert.deepEqual(outcome({ restartPolicy: 'Never' }, 1), refused);
    assert.deepEqual(outcome({ restartPolicy: 'OnFailure' }, 0), refused);
    assert.deepEqual(outcome({ restartPolicy: 'Never', initContainers: [{ name: 'app' }] }, 0, 'init'), refused);
  });

  test('is allowed where the pod restarts it, whatever its own policy says', () => {
    assert.equal(outcome({ restartPolicy: 'OnFailure' }, 1).kind, 'changed');
    assert.equal(outcome({ restartPolicy: 'Always' }, 0).kind, 'changed');
    const containers = [{ name: 'app', restartPolicy: 'Never' } as const];
    assert.equal(outcome({ restartPolicy: 'OnFailure', containers }, 1).kind, 'changed');
  });

  test('is allowed by its own policy or by one of its rules', () => {
    const own = (restartPolicy: 'Always' | 'Never', exitCode: number) =>
      outcome(
        { restartPolicy: 'Never', containers: [{ name: 'app', restartPolicy, restartPolicyRules: rule('Restart') }] },
        exitCode,
      );
    assert.equal(own('Always', 1).kind, 'changed');
    assert.equal(own('Never', 3).kind, 'changed');
    assert.deepEqual(own('Never', 4), refused);
  });

  test('is allowed where any container may restart all of them', () => {
    const containers = [{ name: 'app' }, { name: 'b', restartPolicyRules: rule('RestartAllContainers') }];
    assert.equal(outcome({ restartPolicy: 'Never', containers }, 0).kind, 'changed');
  });

  test('is allowed for a sidecar', () =>
    assert.equal(outcome({ restartPolicy: 'Never', initContainers: [sidecar('app')] }, 0, 'init').kind, 'changed'));

  test('cannot be judged where the init statuses are not those of the spec', () => {
    assert.deepEqual(outcome({ restartPolicy: 'Never', initContainers: [{ name: 'other' }] }, 0, 'init'), {
      kind: 'refused',
      reason: 'InitContainersMismatch',
      container: 'app',
    });
  });
});
