import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { incarnationOf, restarted } from '../../../shared/core/kubelet/static-lifecycle.ts';
import type { ProbeRecord, StatusRecord, TargetState } from '../../../shared/core/spec/records.ts';
import { specProbes, type TargetSpec } from '../../../shared/core/spec/spec.ts';
import type { ContainerStatus, ProbeType, Result } from '../../../shared/core/spec/types.ts';
import { newProbeRecord } from '../../../shared/core/status/observed.ts';
import { nextSyncMs, planSync, type SyncPlan } from '../../../shared/core/status/sync.ts';
import { initialStatus } from '../../../shared/core/status/target-status.ts';
import { column, columns } from '../../support/columns.ts';
import { containerStatusOf, running, specOf, targetRecordOf, tcpProbe } from '../../support/pods.ts';

const probed = {
  name: 'app',
  startupProbe: tcpProbe,
  readinessProbe: tcpProbe,
  livenessProbe: { ...tcpProbe, terminationGracePeriodSeconds: 5 },
};

const staticID = 'probelet://u1/app/0';

/** A registered target whose status is in step with it, all its probes never probed. */
function registered(fields: Partial<TargetSpec> = {}): TargetState {
  const target = targetRecordOf({ spec: specOf({ lifecycle: 'static', containers: [probed], ...fields }) });
  const probes = Object.fromEntries(specProbes(target.spec).map((probe) => [probe.name, newProbeRecord('u1', probe)]));
  return { target, status: initialStatus(target, 0), probes };
}

const reported = (containerStatus: ContainerStatus, state: TargetState): TargetState => ({
  ...state,
  report: {
    ...{ uid: 'u1', version: 1, reportedAtMs: 0 },
    ...{ initContainerStatuses: [], containerStatuses: [containerStatus], conditions: [] },
  },
});

/** The same with one committed result more. */
function withResult(state: TargetState, probeType: ProbeType, result: Result, containerID = staticID): TargetState {
  const name = `app#${probeType}`;
  const before = state.probes[name];
  assert.ok(before);
  const after: ProbeRecord = { ...before, containerID, result, version: before.version + 1 };
  return { ...state, probes: { ...state.probes, [name]: after } };
}

const started = (state: TargetState): TargetState =>
  withResult(withResult(state, 'startup', 'success'), 'liveness', 'success');

/** A reported target whose container `test://a` has this status and has failed its liveness probe. */
const failedReported = (status: ContainerStatus): TargetState =>
  withResult(reported(status, registered({ lifecycle: 'reported' })), 'liveness', 'failure', 'test://a');

const failed = (): TargetState => withResult(started(registered()), 'liveness', 'failure');
const readied = (): TargetState => withResult(started(registered()), 'readiness', 'success');

type Written = Extract<SyncPlan, { kind: 'write' }>;

function written(state: TargetState, nowMs: number): Written {
  const plan = planSync(state, nowMs);
  assert.ok(plan.kind === 'write', plan.kind);
  return plan;
}

/** The state once the plan is written, published and acked. */
const afterwards = (state: TargetState, { record, acked }: Written): TargetState => ({
  ...state,
  status: { ...record, outbox: [], acked },
});

const requests = ({ outbox }: StatusRecord) =>
  outbox.filter((event) => event.detailType === 'Container Restart Requested');
const requestDetail = (plan: Written) => requests(plan.record)[0]?.detail;
const appStatus = ({ record }: Written) => record.status.containerStatuses[0];

/** Eight publications of one request, each as soon as it is due and not before; pauses in s. */
function repeated(failing: TargetState, startMs: number) {
  let state = failing;
  let nowMs = startMs;
  const attempts: unknown[] = [];
  const pauses: number[] = [];
  const ids = new Set<unknown>();
  for (let round = 0; round < 8; round += 1) {
    const plan = written(state, nowMs);
    attempts.push(requestDetail(plan)?.attempt);
    ids.add(requests(plan.record)[0]?.id);
    state = afterwards(state, plan);
    const next = nextSyncMs(state, nowMs) ?? Number.NaN;
    assert.deepEqual(planSync(state, next - 1), { kind: 'settled' });
    pauses.push((next - nowMs) / 1000);
    nowMs = next;
  }
  return { state, nowMs, attempts, pauses, ids };
}

describe('a liveness failure', () => {
  test('asks for a restart, with the grace period of the probe', () => {
    const plan = written(failed(), 5_000);
    assert.deepEqual(requestDetail(plan), {
      container: 'app',
      containerID: staticID,
      probeType: 'liveness',
      message: 'Container app failed liveness probe, restart requested',
      attempt: 1,
      restartPolicy: 'Always',
      terminationGracePeriodSeconds: 5,
    });
    assert.deepEqual(column(plan.events, 'reason'), ['RestartRequested']);
  });

  test('changes nothing of a static container: it runs on under its ID, and has not been restarted', () => {
    const before = appStatus(written(started(registered()), 1_000));
    assert.deepEqual(appStatus(written(failed(), 5_000)), before);
  });

  test('makes a static container without a readiness probe not ready, until a success', () => {
    const { readinessProbe: _, ...app } = probed;
    const state = started(registered({ containers: [app] }));
    const readyOf = (plan: Written) => [
      appStatus(plan)?.ready,
      plan.record.status.conditions.find(({ type }) => type === 'Ready')?.status,
    ];
    assert.deepEqual(readyOf(written(state, 1_000)), [true, 'True']);
    const down = afterwards(state, written(withResult(state, 'liveness', 'failure'), 2_000));
    assert.deepEqual(readyOf(written(withResult(state, 'liveness', 'failure'), 2_000)), [false, 'False']);
    assert.deepEqual(readyOf(written(withResult(down, 'liveness', 'success'), 3_000)), [true, 'True']);
  });

  test('of a container that is not running asks for nothing', () => {
    const stopped = containerStatusOf('app', { kind: 'waiting' }, { containerID: 'test://a' });
    const state = failedReported(stopped);
    assert.deepEqual(requests(written(state, 0).record), []);
  });

  test('of an earlier container asks for nothing', () => {
    const state = withResult(started(registered()), 'liveness', 'failure', 'probelet://u1/app/before');
    assert.deepEqual(requests(written(state, 0).record), []);
  });

  test('with restartPolicy Never asks for no restart of a static container, which runs on', () => {
    const state = withResult(started(registered({ restartPolicy: 'Never' })), 'liveness', 'failure');
    const plan = written(state, 5_000);
    assert.deepEqual([requests(plan.record), plan.record.restartRequests], [[], {}]);
    assert.deepEqual([plan.record.status.phase, appStatus(plan)?.state?.kind], ['Running', 'running']);
  });
});

test('the history names the request after the result that it follows from, however the ids read', () => {
  const { events } = written(failed(), 5_000);
  for (const { id } of events) assert.ok(id > '00000000005000#zzz#liveness#~0000000001');
});

describe('other updates', () => {
  test('a liveness success changes nothing that others see', () => {
    const state = afterwards(started(registered()), written(started(registered()), 1_000));
    const again = written(withResult(state, 'liveness', 'success'), 2_000);
    assert.deepEqual(again.record.outbox, []);
  });

  test('a readiness result sets ready and the conditions, and restarts nothing', () => {
    const ready = readied();
    const first = written(ready, 1_000);
    assert.equal(appStatus(first)?.ready, true);
    const unready = written(withResult(afterwards(ready, first), 'readiness', 'failure'), 2_000);
    assert.equal(appStatus(unready)?.ready, false);
    assert.equal(unready.record.status.conditions.find(({ type }) => type === 'Ready')?.status, 'False');
    assert.deepEqual(requests(unready.record), []);
  });

  test('a startup success starts the container, a failure asks for its restart', () => {
    assert.equal(appStatus(written(withResult(registered(), 'startup', 'success'), 1_000))?.started, true);
    const plan = written(withResult(registered(), 'startup', 'failure'), 1_000);
    assert.equal(requestDetail(plan)?.probeType, 'startup');
    assert.equal(requestDetail(plan)?.terminationGracePeriodSeconds, 30);
  });
});

test('a static container has run since its target was registered', () => {
  const target = targetRecordOf({
    creationTimestampMs: 7_000,
    spec: specOf({ lifecycle: 'static', containers: [{ name: 'app' }] }),
  });
  const state = { target, status: initialStatus(target, 7_000), probes: {} };
  const later = written({ ...state, target: { ...target, resourceVersion: 2 } }, 60_000);
  assert.deepEqual(appStatus(later)?.state, { kind: 'running', startedAtMs: 7_000 });
});

test('a failed target stays failed although its containers run again, unless the reporter says otherwise', () => {
  const never = registered({ lifecycle: 'reported', restartPolicy: 'Never' });
  const ended = reported(containerStatusOf('app', { kind: 'terminated', exitCode: 1 }), never);
  const plan = written(ended, 1_000);
  assert.equal(plan.record.status.phase, 'Failed');
  const { target } = ended;
  // Now the container may be restarted.
  const edited = { ...target, resourceVersion: 2, spec: { ...target.spec, restartPolicy: 'Always' } } as const;
  const again = reported(containerStatusOf('app', running), { ...afterwards(ended, plan), target: edited });
  const second = written(again, 2_000);
  assert.deepEqual([second.record.status.phase, appStatus(second)?.state?.kind], ['Failed', 'running']);
  assert.ok(again.report);
  const runningAgain: TargetState = { ...again, report: { ...again.report, phase: 'Running' } };
  assert.equal(written(runningAgain, 3_000).record.status.phase, 'Running');
});

test('a container is not ready while the item of its readiness probe cannot be read', () => {
  const ready = readied();
  const { 'app#readiness': _unreadable, ...probes } = ready.probes;
  assert.equal(appStatus(written({ ...ready, probes }, 1_000))?.ready, false);
});

describe('status-sync is level-triggered', () => {
  test('a second look at the same state changes nothing', () => {
    const state = readied();
    const settled = afterwards(state, written(state, 1_000));
    assert.deepEqual(planSync(settled, 2_000), { kind: 'settled' });
    assert.equal(nextSyncMs(settled, 0), undefined);
  });

  test('a version not taken in yet is acked with the write', () => {
    const plan = written(withResult(registered(), 'startup', 'success'), 1_000);
    assert.deepEqual(plan.acked, { 'app#startup': 1, 'app#readiness': 0, 'app#liveness': 0 });
  });

  test('an event that was not published stays in the outbox and is due', () => {
    const plan = written(withResult(registered(), 'startup', 'success'), 1_000);
    const unpublished = { ...registered(), status: plan.record };
    assert.notEqual(plan.record.outbox.length, 0);
    assert.equal(nextSyncMs(unpublished, 0), 0);
    assert.deepEqual(written(unpublished, 2_000).record.outbox[0], plan.record.outbox[0]);
  });
});

describe('a restart request', () => {
  test('has an id of its own where two targets report the same container', () => {
    const status = containerStatusOf('app', running, { containerID: 'test://a' });
    const failing = (uid: string): TargetState => {
      const state = failedReported(status);
      return { ...state, target: { ...state.target, uid } };
    };
    const ids = ['u1', 'u2'].map((uid) => requests(written(failing(uid), 0).record)[0]?.id);
    assert.equal(new Set(ids).size, 2);
  });

  test('of a static container is published again, later each time, as long as it fails', () => {
    const failing = failed();
    const { attempts, pauses, ids } = repeated(failing, 5_000);
    assert.deepEqual(attempts, [1, 2, 3, 4, 5, 6, 7, 8]);
    assert.deepEqual(pauses, [10, 20, 40, 80, 160, 300, 300, 300]);
    assert.equal(ids.size, 8);
  });

  test('ends at once with a success, which is published with the number of attempts', () => {
    const down = failed();
    const asked = afterwards(down, written(down, 5_000));
    const plan = written(withResult(asked, 'liveness', 'success'), 7_000);
    assert.deepEqual(plan.record.restartRequests, {});
    const [event] = plan.record.outbox.filter((one) => one.detailType === 'Container Recovered');
    assert.deepEqual(event?.detail, {
      container: 'app',
      containerID: staticID,
      probeType: 'liveness',
      message: 'Container app passed its liveness probe again',
      attempts: 1,
      failedSinceMs: 5_000,
    });
    const again = withResult(afterwards(asked, plan), 'liveness', 'failure');
    const second = written(again, 9_000);
    assert.equal(requestDetail(second)?.attempt, 1);
    assert.notEqual(requests(second.record)[0]?.id, requests(written(down, 5_000).record)[0]?.id);
  });

  const restartedAt = (state: TargetState, nowMs: number): TargetState => ({
    ...state,
    target: {
      ...state.target,
      resourceVersion: state.target.resourceVersion + 1,
      incarnations: { app: restarted(incarnationOf(state.target, 'app'), nowMs) },
    },
  });

  test('waits for a verdict once a restart is reported, and continues its back-off if that did not help', () => {
    const down = failed();
    const begun = restartedAt(afterwards(down, written(down, 5_000)), 6_000);
    const plan = written(begun, 6_000);
    assert.equal(appStatus(plan)?.containerID, 'probelet://u1/app/1');
    assert.deepEqual([appStatus(plan)?.restartCount, appStatus(plan)?.started], [1, false]);
    assert.deepEqual(columns(plan.events, 'reason', 'message'), [
      ['Restarted', 'Container app was reported as restarted, restart 1'],
    ]);
    const waiting = afterwards(begun, plan);
    assert.deepEqual([requests(plan.record), nextSyncMs(waiting, 6_000)], [[], undefined]);
    const failedAgain = withResult(waiting, 'startup', 'failure', 'probelet://u1/app/1');
    const early = written(failedAgain, 8_000);
    assert.deepEqual(requests(early.record), []);
    assert.equal(nextSyncMs(afterwards(failedAgain, early), 8_000), 15_000);
    const due = written(afterwards(failedAgain, early), 15_000);
    const again = [requestDetail(due)?.attempt, requestDetail(due)?.containerID, requestDetail(due)?.probeType];
    assert.deepEqual(again, [2, 'probelet://u1/app/1', 'startup']);
  });

  test('is over when its probe leaves the spec: nothing has recovered', () => {
    const down = failed();
    const asked = afterwards(down, written(down, 5_000));
    const { livenessProbe: _, ...app } = probed;
    const spec = { ...asked.target.spec, containers: [app] };
    const plan = written({ ...asked, target: { ...asked.target, resourceVersion: 2, spec } }, 6_000);
    assert.deepEqual([plan.record.restartRequests, requests(plan.record), plan.record.outbox], [{}, [], []]);
  });

  test('of a reported container is published again, later each time, until another containerID is reported', () => {
    const status = containerStatusOf('app', running, { containerID: 'test://a' });
    const failing = failedReported(status);
    const { state, nowMs, pauses, ids } = repeated(failing, 0);
    assert.deepEqual(pauses, [10, 20, 40, 80, 160, 300, 300, 300]);
    assert.equal(ids.size, 8);
    const answered = reported(containerStatusOf('app', running, { containerID: 'test://b' }), state);
    const plan = written(answered, nowMs);
    assert.deepEqual([requests(plan.record), plan.record.restartRequests], [[], {}]);
  });
});

describe('a terminating target', () => {
  const terminating = (state: TargetState, deletionTimestampMs: number): TargetState => ({
    ...state,
    target: { ...state.target, resourceVersion: 2, deletionTimestampMs },
  });

  test('restarts nothing any more', () => {
    const state = terminating(failed(), 60_000);
    const plan = written(state, 5_000);
    assert.deepEqual([requests(plan.record), plan.events], [[], []]);
  });

  test('withdraws the restart request that was open', () => {
    const down = failed();
    const asked = terminating(afterwards(down, written(down, 5_000)), 60_000);
    const plan = written(asked, 20_000);
    assert.deepEqual([requests(plan.record), plan.record.restartRequests], [[], {}]);
  });

  describe('is over once its containers have ended, whatever its policy', () => {
    for (const restartPolicy of ['Always', 'OnFailure', 'Never'] as const)
      for (const [exitCode, phase, reason] of [
        [0, 'Succeeded', 'PodCompleted'],
        [1, 'Failed', 'PodFailed'],
      ] as const)
        test(`${restartPolicy}, exit code ${exitCode}`, () => {
          const down = containerStatusOf('app', { kind: 'terminated', exitCode });
          const state = reported(down, registered({ lifecycle: 'reported', restartPolicy }));
          const { status } = written(terminating(state, 60_000), 5_000).record;
          const ready = status.conditions.find(({ type }) => type === 'Ready');
          assert.deepEqual([status.phase, ready?.status, ready?.reason], [phase, 'False', reason]);
        });
  });

  test('runs while a sidecar does', () => {
    const side = { name: 'side', restartPolicy: 'Always' } as const;
    const down = containerStatusOf('app', { kind: 'terminated', exitCode: 0 });
    const state = reported(down, registered({ lifecycle: 'reported', initContainers: [side] }));
    assert.ok(state.report);
    const report = { ...state.report, initContainerStatuses: [containerStatusOf('side', running)] };
    assert.equal(written(terminating({ ...state, report }, 60_000), 5_000).record.status.phase, 'Running');
  });

  test('is purged when its grace period ends, and the timekeeper knows when', () => {
    const state = terminating(registered(), 60_000);
    const settled = afterwards(state, written(state, 59_999));
    assert.equal(nextSyncMs(settled, 0), 60_000);
    assert.deepEqual(planSync(settled, 60_000), { kind: 'purge' });
  });
});
