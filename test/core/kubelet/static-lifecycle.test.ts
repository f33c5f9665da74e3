import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  type Incarnations,
  incarnationOf,
  incarnationsOf,
  isToBeRestarted,
  restarted,
  staticContainerStatus,
} from '../../../shared/core/kubelet/static-lifecycle.ts';
import { type PlacedContainer, placedContainers, type TargetSpec } from '../../../shared/core/spec/spec.ts';
import { specOf, targetRecordOf } from '../../support/pods.ts';

const app: PlacedContainer = { kind: 'container', spec: { name: 'app' } };
const staticSpec = (fields: Partial<TargetSpec> = {}) => specOf({ lifecycle: 'static', ...fields });

describe('a static container', () => {
  const again = restarted(restarted({ restartCount: 0, startedAtMs: 0 }, 10), 20);
  for (const [what, record, startedAtMs, restarts] of [
    ['from the registration on, under its first containerID', { creationTimestampMs: 7_000 }, 7_000, 0],
    ['under another containerID from each reported restart on', { incarnations: { app: again } }, 20, 2],
  ] as const)
    test(`runs ${what}`, () => {
      const target = targetRecordOf({ spec: staticSpec(), ...record });
      const { containerID, state, restartCount } = staticContainerStatus(target, app);
      assert.deepEqual([containerID, restartCount], [`probelet://u1/app/${restarts}`, restarts]);
      assert.deepEqual(state, { kind: 'running', startedAtMs });
    });

  test('that joins the spec runs from then on, one that stays continues, one that leaves is forgotten', () => {
    const spec = staticSpec({ containers: [{ name: 'app' }, { name: 'new' }] });
    const before = { app: { restartCount: 3, startedAtMs: 10 }, old: { restartCount: 1, startedAtMs: 5 } };
    assert.deepEqual(incarnationsOf(spec, before, 50, 4), {
      app: { restartCount: 3, startedAtMs: 10 },
      new: { restartCount: 0, startedAtMs: 50, joinedGeneration: 4 },
    });
  });

  test('that leaves the spec and comes back has another containerID than before', () => {
    const [both, one] = [staticSpec({ containers: [{ name: 'app' }, { name: 'new' }] }), staticSpec()];
    const idsOf = (incarnations: Incarnations, spec: TargetSpec): readonly string[] =>
      placedContainers(spec).map(
        (each) => staticContainerStatus(targetRecordOf({ spec, incarnations }), each).containerID,
      );
    const first = incarnationsOf(both, {}, 1);
    const left = incarnationsOf(one, first, 2, 2);
    const back = incarnationsOf(both, left, 3, 3);
    const leftAgain = incarnationsOf(one, back, 4, 4);
    const backAgain = incarnationsOf(both, leftAgain, 5, 5);
    assert.deepEqual(
      [
        first,
        back,
        { ...back, new: restarted({ restartCount: 0, startedAtMs: 3, joinedGeneration: 3 }, 6) },
        backAgain,
      ].map((each) => idsOf(each, both)),
      [
        ['probelet://u1/app/0', 'probelet://u1/new/0'],
        ['probelet://u1/app/0', 'probelet://u1/new/3.0'],
        ['probelet://u1/app/0', 'probelet://u1/new/3.1'],
        ['probelet://u1/app/0', 'probelet://u1/new/5.0'],
      ],
    );
  });

  test('may be called constructor', () => {
    const target = targetRecordOf({ creationTimestampMs: 7, spec: staticSpec(), incarnations: {} });
    assert.deepEqual(incarnationOf(target, 'constructor'), { restartCount: 0, startedAtMs: 7 });
  });

  const asks = (restartPolicy: TargetSpec['restartPolicy'], container = app) =>
    isToBeRestarted(staticSpec({ restartPolicy }), container);

  test('asks for no restart where the policy is Never', () =>
    assert.deepEqual([asks('Never'), asks('OnFailure'), asks('Always')], [false, true, true]));

  test('asks by its own policy before the target’s, and always as a sidecar', () => {
    assert.equal(asks('Never', { kind: 'container', spec: { name: 'app', restartPolicy: 'Always' } }), true);
    assert.equal(asks('Always', { kind: 'container', spec: { name: 'app', restartPolicy: 'Never' } }), false);
    assert.equal(asks('Never', { kind: 'restartableInit', spec: { name: 'side', restartPolicy: 'Always' } }), true);
  });
});

test('an ordinary init container of a static target counts as done', () => {
  const status = staticContainerStatus(targetRecordOf({ spec: staticSpec() }), {
    kind: 'init',
    spec: { name: 'init' },
  });
  assert.ok(status.state?.kind === 'terminated' && status.state.exitCode === 0);
});
