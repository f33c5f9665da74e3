import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { podPhase } from '../../../shared/core/kubelet/phase.ts';
import type { ContainerSpec } from '../../../shared/core/spec/spec.ts';
import type { ContainerState, ContainerStatus, RestartPolicy } from '../../../shared/core/spec/types.ts';
import { containerStatusOf, crashed, exited, running, specOf, waiting } from '../../support/pods.ts';

/**
 * A container is `name:state`: running, waiting, exit and crash (in back-off) with an exit code, `none` without a
 * state, `?` without a status. `side*` is a sidecar, running unless it has `started`; `app/Never/42` has a restart
 * policy of its own, and a rule that restarts it after that exit code; `+b` has a status and is not in the spec. One
 * phase is that of each restart policy; `ended`: the pod has ended.
 */
const rows: readonly (readonly [name: string, init: string, containers: string, phases: string])[] = [
  ['nothing is known yet', '', 'app:?', 'Pending'],
  ['no container at all', '', '', 'Pending'],
  ['all containers run', '', 'a:running b:running', 'Running'],
  ['one runs, one waits for its first start', '', 'a:running b:waiting', 'Pending'],
  ['one runs, of one nothing is known', '', 'a:running b:?', 'Pending'],
  ['one runs, one has no state', '', 'a:running b:none', 'Pending'],
  ['one runs, one failed', '', 'a:running b:exit1', 'Running'],
  ['a status that is not in the spec', '', 'app:running +b:exit1', 'Running'],

  ['all succeeded', '', 'a:exit0 b:exit0', 'Never Succeeded, OnFailure Succeeded, Always Running'],
  ['all ended, one failed', '', 'a:exit0 b:exit1', 'Never Failed, OnFailure Running, Always Running'],
  ['in back-off', '', 'app:crash1', 'Always Running, Never Failed'],
  ['waits after a success that is not repeated', '', 'app:crash0', 'OnFailure Failed'],
  ['the container overrides the policy', '', 'app/Never:exit1', 'Always Failed'],
  ['a rule restarts it', '', 'app/Never/42:exit42', 'Never Running'],
  ['all containers are being restarted', '', 'app:restartAll', 'Never Running'],
  ['ended with the pod', '', 'app:exit0', 'ended Succeeded'],
  ['ended with the pod, failed', '', 'app:exit1', 'ended Failed'],
  ['one of two ended with the pod, failed', '', 'a:exit0 b:exit1', 'ended Failed'],
  ['ended with the pod in back-off', '', 'app:crash0', 'ended Failed'],

  ['init container unknown', 'init:?', 'app:waiting', 'Pending'],
  ['init container runs', 'init:running', 'app:running', 'Pending'],
  ['init container done', 'init:exit0', 'app:running', 'Running'],
  ['init container failed', 'init:exit1', 'app:waiting', 'Never Failed, OnFailure Pending, Always Pending'],
  ['init container in back-off', 'init:crash1', 'app:waiting', 'Never Failed, Always Pending'],

  ['sidecar starts before the containers', 'side*:running', 'app:waiting', 'Pending'],
  ['sidecar restarts beside a running container', 'side*:running', 'app:running', 'Running'],
  ['sidecar waits for its first start', 'side*:waiting', 'app:running', 'Pending'],
  ['sidecar of which nothing is known', 'side*:?', 'app:running', 'Pending'],
  ['sidecar ended', 'side*:exit1', 'app:running', 'Running'],
  ['only the sidecar still runs', 'side*:started', 'app:exit0', 'Never Running'],
  ['sidecar and container ended', 'side*:exit137', 'app:exit0', 'Never Succeeded'],
];

type Parsed = { readonly spec?: ContainerSpec; readonly status?: ContainerStatus };

const parsed = (text: string): readonly Parsed[] => text.split(' ').filter(Boolean).map(containerOf);

function containerOf(text: string): Parsed {
  const [, foreign, name = '', star, restartPolicy, code, state = ''] =
    /^(\+?)(\w+)(\*?)(?:\/(\w+))?(?:\/(\d+))?:(\S+)$/.exec(text) ?? [];
  const policy = star ? 'Always' : (restartPolicy as RestartPolicy | undefined);
  const rule = { action: 'Restart', operator: 'In', values: [Number(code)] } as const;
  const spec = { name, ...(policy && { restartPolicy: policy }), ...(code && { restartPolicyRules: [rule] }) };
  return { ...(!foreign && { spec }), ...(state !== '?' && { status: statusOf(name, state) }) };
}

function statusOf(name: string, text: string): ContainerStatus {
  const [, word = '', code] = /^(\D+)(\d*)$/.exec(text) ?? [];
  if (word === 'crash') return crashed(name, Number(code));
  const states: { readonly [word: string]: ContainerState | undefined } = {
    running,
    started: running,
    waiting,
    none: undefined,
    exit: exited(Number(code)),
    restartAll: { kind: 'terminated', exitCode: 1, reason: 'RestartingAllContainers' },
  };
  assert.ok(word in states, text);
  const started = { running: false, started: true }[word] ?? null;
  return containerStatusOf(name, states[word], name === 'side' ? { started } : {});
}

const policies = ['Always', 'OnFailure', 'Never'] as const;

describe('phase', () => {
  for (const [name, init, containers, phases] of rows)
    for (const each of phases.split(', ')) {
      const [phase, which = 'any'] = each.split(' ').reverse();
      const ofOne = policies.filter((policy) => policy === which);
      for (const restartPolicy of ofOne.length > 0 ? ofOne : policies)
        test(`${name} (${restartPolicy}): ${phase}`, () => {
          const [inits, ordinary] = [parsed(init), parsed(containers)];
          const spec = specOf({
            restartPolicy,
            initContainers: inits.flatMap((one) => one.spec ?? []),
            containers: ordinary.flatMap((one) => one.spec ?? []),
          });
          const initContainerStatuses = inits.flatMap(({ status }) => status ?? []);
          const containerStatuses = ordinary.flatMap(({ status }) => status ?? []);
          const terminal = which === 'ended';
          assert.equal(podPhase({ spec, initContainerStatuses, containerStatuses, terminal }), phase);
        });
    }
});
