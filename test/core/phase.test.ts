import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { podPhase } from '../../shared/core/phase.ts';
import type { ContainerSpec } from '../../shared/core/spec.ts';
import type { ContainerStatus, Phase, RestartPolicy } from '../../shared/core/types.ts';
import { containerStatusOf, crashed, exited, running, sidecar, specOf, waiting } from '../support/pods.ts';

type Row = {
  readonly name: string;
  readonly phase: Phase;
  /** Absent: the phase is the same under each. */
  readonly policy?: RestartPolicy;
  readonly init?: readonly ContainerSpec[];
  readonly containers?: readonly ContainerSpec[];
  readonly initStatuses?: readonly ContainerStatus[];
  readonly statuses?: readonly ContainerStatus[];
  readonly terminal?: boolean;
};

const two: readonly ContainerSpec[] = [{ name: 'a' }, { name: 'b' }];
const a = (state: Parameters<typeof containerStatusOf>[1]) => containerStatusOf('a', state);
const b = (state: Parameters<typeof containerStatusOf>[1]) => containerStatusOf('b', state);
const runningApp = [containerStatusOf('app', running)];
const waitingApp = [containerStatusOf('app', waiting)];
const init: readonly ContainerSpec[] = [{ name: 'init' }];
const side: readonly ContainerSpec[] = [sidecar('side')];
const onExit = (values: readonly number[]) => [{ action: 'Restart', operator: 'In', values } as const];

const rows: readonly Row[] = [
  { name: 'nothing is known yet', phase: 'Pending' },
  { name: 'no container at all', containers: [], phase: 'Pending' },
  { name: 'all containers run', containers: two, statuses: [a(running), b(running)], phase: 'Running' },
  {
    name: 'one runs, one waits for its first start',
    containers: two,
    statuses: [a(running), b(waiting)],
    phase: 'Pending',
  },
  { name: 'one runs, of one nothing is known', containers: two, statuses: [a(running)], phase: 'Pending' },
  { name: 'one runs, one has no state', containers: two, statuses: [a(running), b(undefined)], phase: 'Pending' },
  { name: 'one runs, one failed', containers: two, statuses: [a(running), b(exited(1))], phase: 'Running' },
  { name: 'a status that is not in the spec', statuses: [...runningApp, b(exited(1))], phase: 'Running' },

  {
    name: 'all succeeded',
    containers: two,
    statuses: [a(exited(0)), b(exited(0))],
    policy: 'Never',
    phase: 'Succeeded',
  },
  {
    name: 'all succeeded',
    containers: two,
    statuses: [a(exited(0)), b(exited(0))],
    policy: 'OnFailure',
    phase: 'Succeeded',
  },
  {
    name: 'all succeeded',
    containers: two,
    statuses: [a(exited(0)), b(exited(0))],
    policy: 'Always',
    phase: 'Running',
  },
  {
    name: 'all ended, one failed',
    containers: two,
    statuses: [a(exited(0)), b(exited(1))],
    policy: 'Never',
    phase: 'Failed',
  },
  {
    name: 'all ended, one failed',
    containers: two,
    statuses: [a(exited(0)), b(exited(1))],
    policy: 'OnFailure',
    phase: 'Running',
  },
  {
    name: 'all ended, one failed',
    containers: two,
    statuses: [a(exited(0)), b(exited(1))],
    policy: 'Always',
    phase: 'Running',
  },
  { name: 'in back-off', statuses: [crashed('app', 1)], policy: 'Always', phase: 'Running' },
  { name: 'in back-off', statuses: [crashed('app', 1)], policy: 'Never', phase: 'Failed' },
  {
    name: 'waits after a success that is not repeated',
    statuses: [crashed('app', 0)],
    policy: 'OnFailure',
    phase: 'Failed',
  },
  {
    name: 'the container overrides the policy',
    containers: [{ name: 'app', restartPolicy: 'Never' }],
    statuses: [containerStatusOf('app', exited(1))],
    policy: 'Always',
    phase: 'Failed',
  },
  {
    name: 'a rule restarts it',
    containers: [{ name: 'app', restartPolicy: 'Never', restartPolicyRules: onExit([42]) }],
    statuses: [containerStatusOf('app', exited(42))],
    policy: 'Never',
    phase: 'Running',
  },
  {
    name: 'all containers are being restarted',
    statuses: [containerStatusOf('app', { kind: 'terminated', exitCode: 1, reason: 'RestartingAllContainers' })],
    policy: 'Never',
    phase: 'Running',
  },
  { name: 'ended with the pod', statuses: [containerStatusOf('app', exited(0))], terminal: true, phase: 'Succeeded' },
  {
    name: 'ended with the pod, failed',
    statuses: [containerStatusOf('app', exited(1))],
    terminal: true,
    phase: 'Failed',
  },
  {
    name: 'one of two ended with the pod, failed',
    containers: two,
    statuses: [a(exited(0)), b(exited(1))],
    terminal: true,
    phase: 'Failed',
  },
  { name: 'ended with the pod in back-off', statuses: [crashed('app', 0)], terminal: true, phase: 'Failed' },

  { name: 'init container unknown', init, statuses: waitingApp, phase: 'Pending' },
  {
    name: 'init container runs',
    init,
    initStatuses: [containerStatusOf('init', running)],
    statuses: runningApp,
    phase: 'Pending',
  },
  {
    name: 'init container done',
    init,
    initStatuses: [containerStatusOf('init', exited(0))],
    statuses: runningApp,
    phase: 'Running',
  },
  {
    name: 'init container failed',
    init,
    initStatuses: [containerStatusOf('init', exited(1))],
    statuses: waitingApp,
    policy: 'Never',
    phase: 'Failed',
  },
  {
    name: 'init container failed',
    init,
    initStatuses: [containerStatusOf('init', exited(1))],
    statuses: waitingApp,
    policy: 'OnFailure',
    phase: 'Pending',
  },
  {
    name: 'init container failed',
    init,
    initStatuses: [containerStatusOf('init', exited(1))],
    statuses: waitingApp,
    policy: 'Always',
    phase: 'Pending',
  },
  {
    name: 'init container in back-off',
    init,
    initStatuses: [crashed('init', 1)],
    statuses: waitingApp,
    policy: 'Never',
    phase: 'Failed',
  },
  {
    name: 'init container in back-off',
    init,
    initStatuses: [crashed('init', 1)],
    statuses: waitingApp,
    policy: 'Always',
    phase: 'Pending',
  },

  {
    name: 'sidecar starts before the containers',
    init: side,
    initStatuses: [containerStatusOf('side', running, { started: false })],
    statuses: waitingApp,
    phase: 'Pending',
  },
  {
    name: 'sidecar restarts beside a running container',
    init: side,
    initStatuses: [containerStatusOf('side', running, { started: false })],
    statuses: runningApp,
    phase: 'Running',
  },
  {
    name: 'sidecar waits for its first start',
    init: side,
    initStatuses: [containerStatusOf('side', waiting)],
    statuses: runningApp,
    phase: 'Pending',
  },
  { name: 'sidecar of which nothing is known', init: side, statuses: runningApp, phase: 'Pending' },
  {
    name: 'sidecar ended',
    init: side,
    initStatuses: [containerStatusOf('side', exited(1))],
    statuses: runningApp,
    phase: 'Running',
  },
  {
    name: 'only the sidecar still runs',
    init: side,
    initStatuses: [containerStatusOf('side', running, { started: true })],
    statuses: [containerStatusOf('app', exited(0))],
    policy: 'Never',
    phase: 'Running',
  },
  {
    name: 'sidecar and container ended',
    init: side,
    initStatuses: [containerStatusOf('side', exited(137))],
    statuses: [containerStatusOf('app', exited(0))],
    policy: 'Never',
    phase: 'Succeeded',
  },
];

describe('phase', () => {
  for (const row of rows) {
    for (const restartPolicy of row.policy ? [row.policy] : (['Always', 'OnFailure', 'Never'] as const)) {
      test(`${row.name} (${restartPolicy}): ${row.phase}`, () => {
        const phase = podPhase({
          spec: specOf({
            restartPolicy,
            initContainers: row.init ?? [],
            containers: row.containers ?? [{ name: 'app' }],
          }),
          initContainerStatuses: row.initStatuses ?? [],
          containerStatuses: row.statuses ?? [],
          terminal: row.terminal ?? false,
        });
        assert.equal(phase, row.phase);
      });
    }
  }
});
