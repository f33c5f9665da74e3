/** The restart request of a reported container, from its failure to the next container. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { RestartRequest, StatusRecord, TargetState } from '../../../shared/core/spec/records.ts';
import { specProbes, type TargetSpec } from '../../../shared/core/spec/spec.ts';
import type { ContainerState } from '../../../shared/core/spec/types.ts';
import { newProbeRecord, observe } from '../../../shared/core/status/observed.ts';
import { requestDueMs, restartMessage } from '../../../shared/core/status/restart-requests.ts';
import { nextSyncMs, planSync } from '../../../shared/core/status/sync.ts';
import { initialStatus } from '../../../shared/core/status/target-status.ts';
import { containerStatusOf, exited, running, specOf, targetRecordOf, tcpProbe, waiting } from '../../support/pods.ts';

const containers = [{ name: 'app', livenessProbe: tcpProbe }];

function reported(state: TargetState, container: ContainerState, containerID: string): TargetState {
  const version = (state.report?.version ?? 0) + 1;
  const containerStatuses = [containerStatusOf('app', container, { containerID })];
  const report = { uid: 'u1', version, reportedAtMs: 0, initContainerStatuses: [], containerStatuses, conditions: [] };
  return { ...state, report };
}

/** A target whose container `test://a` has failed its liveness probe. */
function failing(fields: Partial<TargetSpec> = {}): TargetState {
  const target = targetRecordOf({ spec: specOf({ lifecycle: 'reported', containers, ...fields }) });
  const [probe] = specProbes(target.spec);
  assert.ok(probe);
  const record = { ...newProbeRecord('u1', probe), containerID: 'test://a', result: 'failure' as const, version: 2 };
  const state = { target, status: initialStatus(target, 0), probes: { [probe.name]: record } };
  return reported(state, running, 'test://a');
}

/** Written, published and acked. */
function synced(state: TargetState, nowMs: number): TargetState {
  const plan = planSync(state, nowMs);
  assert.ok(plan.kind === 'write');
  return { ...state, status: { ...plan.record, outbox: [], acked: plan.acked } };
}

const asked = (record: StatusRecord | undefined) =>
  record?.outbox.filter(({ detailType }) => detailType === 'Container Restart Requested').length ?? 0;

/** How often it is asked for at that time, and whether it will be again. */
function later(state: TargetState, nowMs: number) {
  const plan = planSync(state, nowMs);
  const record = plan.kind === 'write' ? plan.record : undefined;
  const next = record && nextSyncMs({ ...state, status: { ...record, outbox: [] } }, nowMs);
  return { asked: asked(record), again: next !== undefined };
}

describe('a restart request of a container that has been stopped', () => {
  const stopped: { readonly [how: string]: readonly [ContainerState, string] } = {
    'and not started again': [exited(137), 'test://a'],
    'and is about to start': [waiting, 'test://a'],
    'and is about to be created again': [waiting, ''],
  };
  for (const [how, [container, containerID]] of Object.entries(stopped))
    test(`${how} is published again: there is no other container yet`, () => {
      const state = reported(synced(failing(), 0), container, containerID);
      assert.deepEqual(later(state, 10_000), { asked: 1, again: true });
    });

  test('is answered by the next container', () => {
    const half = synced(reported(synced(failing(), 0), exited(137), 'test://a'), 10_000);
    assert.deepEqual(later(reported(half, running, 'test://b'), 30_000), { asked: 0, again: false });
  });

  test('keeps its id when the same container runs again', () => {
    const half = synced(reported(synced(failing(), 0), exited(137), 'test://a'), 10_000);
    const ids = [failing(), reported(half, running, 'test://a')].map((state) => {
      const plan = planSync(state, 30_000);
      return plan.kind === 'write' && Object.values(plan.record.restartRequests).map(({ id }) => id);
    });
    assert.deepEqual(ids[1], ids[0]);
  });

  test('is over when its policy does not start it again', () => {
    const ended = [
      reported(synced(failing({ restartPolicy: 'Never' }), 0), exited(137), 'test://a'),
      reported(synced(failing({ restartPolicy: 'OnFailure' }), 0), exited(0), 'test://a'),
    ];
    for (const state of ended) assert.deepEqual(later(state, 10_000), { asked: 0, again: false });
  });

  test('is over when its target terminates', () => {
    const state = reported(synced(failing(), 0), exited(137), 'test://a');
    const target = { ...state.target, deletionTimestampMs: 60_000 };
    assert.equal(later({ ...state, target }, 10_000).asked, 0);
  });
});

describe('an episode of a static container', () => {
  const both = [{ name: 'app', livenessProbe: tcpProbe, startupProbe: tcpProbe }];
  const target = targetRecordOf({ spec: specOf({ lifecycle: 'static', containers: both }) });
  const [{ containerID = '' } = {}] = observe({
    target,
    status: initialStatus(target, 0),
    probes: {},
  }).containerStatuses;
  const failures = (containers: TargetSpec['containers'], ID: string) => {
    const probes = specProbes(specOf({ lifecycle: 'static', containers }));
    return Object.fromEntries(
      probes.map((probe) => [
        probe.name,
        { ...newProbeRecord('u1', probe), containerID: ID, result: 'failure' as const, version: 2 },
      ]),
    );
  };

  test('belongs to the probe that fails now, when the one that began it has left the spec', () => {
    const status = initialStatus(target, 0);
    const startup = specProbes(target.spec).filter(({ probeType }) => probeType === 'startup');
    const all = failures(both, containerID);
    const begun = synced(
      { target, status, probes: Object.fromEntries(startup.map(({ name }) => [name, all[name] as never])) },
      0,
    );
    assert.equal(begun.status.restartRequests.app?.probeType, 'startup');
    const spec = specOf({ lifecycle: 'static', containers });
    const left = synced({ ...begun, target: { ...target, spec }, probes: failures(containers, containerID) }, 10_000);
    const { probeType, published } = left.status.restartRequests.app ?? {};
    assert.deepEqual([probeType, published], ['liveness', 2]);
  });
});

/** The texts of kubelet v1.36.3: kuberuntime_manager.go (computePodActions), kuberuntime_container.go (sidecars). */
describe('the text of a restart request', () => {
  const texts = [
    ['container', 'Always', 'reported', 'Container app failed % probe, will be restarted'],
    ['container', 'OnFailure', 'reported', 'Container app failed % probe, will be restarted'],
    ['container', 'Never', 'reported', 'Container app failed % probe'],
    ['restartableInit', 'Always', 'reported', 'Init container app failed % probe'],
    ['restartableInit', 'Never', 'reported', 'Init container app failed % probe'],
    ['container', 'Always', 'static', 'Container app failed % probe, restart requested'],
    ['restartableInit', 'Never', 'static', 'Init container app failed % probe, restart requested'],
  ] as const;
  for (const [kind, restartPolicy, lifecycle, text] of texts)
    for (const type of ['liveness', 'startup'] as const)
      test(`${text.replace('%', type)} (${kind}, ${restartPolicy}, ${lifecycle})`, () => {
        const target = targetRecordOf({ spec: specOf({ lifecycle, restartPolicy, containers }) });
        assert.equal(restartMessage(target, { kind, spec: { name: 'app' } }, type), text.replace('%', type));
      });
});

test('a request whose time a wrong clock has set far ahead is published again at once, and no other', () => {
  const dayMs = 86_400_000;
  assert.deepEqual(later(synced(failing(), dayMs), 0), { asked: 1, again: true });
  assert.equal(later(synced(failing(), 0), 5_000).asked, 0);
});

test('a request is due since its time, and one whose time is too far ahead is due now', () => {
  const at = (nextAtMs: number, answered = false) => ({ nextAtMs, answered }) as RestartRequest;
  const nowMs = 1_000_000_000;
  for (const [request, wantedMs] of [
    [at(nowMs - 5_000), nowMs - 5_000],
    [at(nowMs + 5_000), nowMs + 5_000],
    [at(nowMs + 86_400_000), nowMs],
    [at(nowMs - 5_000, true), undefined],
  ] as const)
    assert.equal(requestDueMs(request, nowMs), wantedMs);
});
