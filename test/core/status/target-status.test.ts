import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { ProbeRecord, ProbeUnknown, TargetState } from '../../../shared/core/spec/records.ts';
import { type ContainerSpec, specProbes } from '../../../shared/core/spec/spec.ts';
import type { ProbeType, Result } from '../../../shared/core/spec/types.ts';
import { newProbeRecord } from '../../../shared/core/status/observed.ts';
import { conditionsOf, initialStatus } from '../../../shared/core/status/target-status.ts';
import { specOf, targetRecordOf, tcpProbe } from '../../support/pods.ts';

type Said = Result | 'denied' | 'errs' | undefined;

const denied: ProbeUnknown = { reason: 'PolicyDenied', failureClass: 'POLICY_DENIED', message: 'denied' };
const errs: ProbeUnknown = { reason: 'ProberError', failureClass: 'PROBER', message: 'no secret' };

/**
 * Ready of a static target whose probes say this, by `<container> <probe type>`; what is not named has no verdict yet.
 */
function readyOf(containers: readonly ContainerSpec[], said: Readonly<Record<string, Said>>) {
  const target = targetRecordOf({ spec: specOf({ lifecycle: 'static', containers }) });
  const record = (name: string, probeType: ProbeType, base: ProbeRecord): ProbeRecord => {
    const what = said[`${name} ${probeType}`];
    const seen = { ...base, containerID: `probelet://u1/${name}/0`, version: 1 };
    if (what === 'denied') return { ...seen, result: 'success', unknown: denied };
    if (what === 'errs') return { ...seen, unknown: errs };
    return what === undefined ? { ...seen, version: 0 } : { ...seen, result: what };
  };
  const probes = Object.fromEntries(
    specProbes(target.spec).map((probe) => [
      probe.name,
      record(probe.container.spec.name, probe.probeType, newProbeRecord('u1', probe)),
    ]),
  );
  const state: TargetState = { target, status: initialStatus(target, 0), probes };
  const [ready, containersReady] = ['Ready', 'ContainersReady'].map((type) =>
    conditionsOf(state, new Map()).find((condition) => condition.type === type),
  );
  assert.equal(ready?.status, containersReady?.status);
  return [ready?.status, ready?.reason];
}

const both: ContainerSpec = { name: 'a', readinessProbe: tcpProbe, livenessProbe: tcpProbe };
const live: ContainerSpec = { name: 'a', livenessProbe: tcpProbe };
const gated: ContainerSpec = { name: 'a', startupProbe: tcpProbe, readinessProbe: tcpProbe };
const other: ContainerSpec = { name: 'b', readinessProbe: tcpProbe };
const bare: ContainerSpec = { name: 'c' };

const rows: readonly (readonly [
  what: string,
  containers: readonly ContainerSpec[],
  said: Readonly<Record<string, Said>>,
  status: string,
  reason?: string,
])[] = [
  ['nothing asked yet', [both], {}, 'Unknown', 'NotYetProbed'],
  ['readiness alone has answered', [both], { 'a readiness': 'success' }, 'Unknown', 'NotYetProbed'],
  ['all have answered', [both], { 'a readiness': 'success', 'a liveness': 'success' }, 'True'],
  ['readiness failed, liveness not asked', [both], { 'a readiness': 'failure' }, 'False', 'ContainersNotReady'],
  ['liveness not asked, no readiness probe', [live], {}, 'Unknown', 'NotYetProbed'],
  ['liveness alone has succeeded', [live], { 'a liveness': 'success' }, 'True'],
  ['liveness alone has failed', [live], { 'a liveness': 'failure' }, 'False', 'ContainersNotReady'],
  ['startup not asked', [gated], {}, 'Unknown', 'NotYetProbed'],
  ['startup failed', [gated], { 'a startup': 'failure' }, 'False', 'ContainersNotReady'],
  ['started, readiness not asked', [gated], { 'a startup': 'success' }, 'Unknown', 'NotYetProbed'],
  ['denied after a success', [both], { 'a readiness': 'denied', 'a liveness': 'success' }, 'Unknown', 'PolicyDenied'],
  ['an error before any verdict', [both], { 'a readiness': 'errs' }, 'Unknown', 'ProberError'],
  ['another container fails', [both, other], { 'b readiness': 'failure' }, 'False', 'ContainersNotReady'],
  ['a container without probes beside one that is ready', [live, bare], { 'a liveness': 'success' }, 'True'],
  ['no probe at all', [bare], {}, 'Unknown', 'NoProbes'],
];

describe('Ready of a static target', () => {
  for (const [what, containers, said, status, reason] of rows)
    test(`${what}: ${status}`, () => assert.deepEqual(readyOf(containers, said), [status, reason]));

  test('names only what is surely not ready', () => {
    const target = targetRecordOf({ spec: specOf({ lifecycle: 'static', containers: [both, other] }) });
    const [a, b] = [both, other].map(({ name }) => `probelet://u1/${name}/0`);
    const probes = Object.fromEntries(
      specProbes(target.spec).map((probe) => [probe.name, { ...newProbeRecord('u1', probe), containerID: a ?? '' }]),
    );
    const failed: ProbeRecord = {
      ...newProbeRecord('u1', { container: { kind: 'container', spec: other }, probeType: 'readiness' }),
      containerID: b ?? '',
      result: 'failure',
    };
    const state = { target, status: initialStatus(target, 0), probes: { ...probes, 'b#readiness': failed } };
    const ready = conditionsOf(state, new Map()).find(({ type }) => type === 'Ready');
    assert.equal(ready?.message, 'containers with unready status: [b]');
  });

  test('is not Initialized before every sidecar has started, and stays it from then on', () => {
    const side: ContainerSpec = { name: 'side', restartPolicy: 'Always', startupProbe: tcpProbe };
    const target = targetRecordOf({
      spec: specOf({ lifecycle: 'static', containers: [live], initContainers: [side] }),
    });
    const [liveness, startup] = specProbes(target.spec).map((probe) => newProbeRecord('u1', probe));
    assert.ok(liveness && startup);
    const initializedWith = (result: Result | undefined, status = initialStatus(target, 0)) => {
      const said: ProbeRecord = { ...startup, containerID: 'probelet://u1/side/0', ...(result && { result }) };
      const conditions = conditionsOf(
        { target, status, probes: { 'a#liveness': liveness, 'side#startup': said } },
        new Map(),
      );
      return conditions.find(({ type }) => type === 'Initialized');
    };
    const statuses = [undefined, 'failure', 'success'].map((result) => initializedWith(result as Result)?.status);
    assert.deepEqual(statuses, ['False', 'False', 'True']);
    const blank = initialStatus(target, 0);
    const initialized = initializedWith('success');
    assert.ok(initialized);
    const before = { ...blank, status: { ...blank.status, conditions: [initialized] } };
    assert.equal(initializedWith('failure', before)?.status, 'True');
  });

  test('of which a probe is late is Unknown, unless another one fails', () => {
    const target = targetRecordOf({ spec: specOf({ lifecycle: 'static', containers: [both] }) });
    const probes = (readiness: Result) =>
      Object.fromEntries(
        specProbes(target.spec).map((probe) => {
          const result: Result = probe.probeType === 'readiness' ? readiness : 'success';
          return [probe.name, { ...newProbeRecord('u1', probe), containerID: 'probelet://u1/a/0', result }];
        }),
      );
    const late = new Map([['a#liveness', 'Late' as const]]);
    const readyWith = (readiness: Result) => {
      const state = { target, status: initialStatus(target, 0), probes: probes(readiness) };
      return conditionsOf(state, late).find(({ type }) => type === 'Ready')?.status;
    };
    assert.deepEqual([readyWith('success'), readyWith('failure')], ['Unknown', 'False']);
  });
});
