/** What a reported restart changes in the state that was read. Pure. */

import { incarnationOf, restarted, staticContainerID } from '../../core/kubelet/static-lifecycle.ts';
import type { Incarnation, TargetRecord } from '../../core/spec/records.ts';
import { placedContainers } from '../../core/spec/spec.ts';
import type { TargetAddress } from '../../store/records/keys.ts';
import { type Checked, invalidFields, ok, problem } from '../http/problem.ts';
import type { Plan } from './change-target.ts';
import type { StoredTarget } from './stored-target.ts';
import { noSuchTarget, targetUpdate, terminating } from './target-plans.ts';

const notStatic = problem(
  409,
  'not-static',
  'The target has lifecycle reported: report its new container by PUT …/status, with its containerID.',
);

/**
 * `container`: may be absent if the target has only one. `containerID`: of the container that was restarted, so that a
 * repetition changes nothing.
 */
export type Restart = { readonly container?: string | undefined; readonly containerID?: string | undefined };

/** POST …/restarted: the container's next incarnation runs from now on. */
export function planRestart(address: TargetAddress, restart: Restart, nowMs: number) {
  return (stored: StoredTarget | undefined): Plan => {
    if (!stored) return noSuchTarget;
    const { target } = stored;
    if (target.spec.lifecycle !== 'static') return notStatic;
    if (target.deletionTimestampMs !== undefined) return terminating;
    const named = containerOf(target, restart.container);
    if (named.kind === 'problem') return named;
    const present = incarnationOf(target, named.value);
    const containerID = staticContainerID(target.uid, named.value, present);
    if ((restart.containerID ?? containerID) !== containerID) return { kind: 'unchanged', stored };
    return next(address, stored, { [named.value]: restarted(present, nowMs) });
  };
}

function next(
  address: TargetAddress,
  stored: StoredTarget,
  begun: { readonly [container: string]: Incarnation },
): Plan {
  const { target } = stored;
  const after: TargetRecord = {
    ...target,
    resourceVersion: target.resourceVersion + 1,
    incarnations: { ...target.incarnations, ...begun },
  };
  const operations = [targetUpdate(address, target, after)];
  return { kind: 'write', operations, stored: { ...stored, target: after }, created: false };
}

/** Ordinary init containers do not run beside the others, so they are never restarted. */
function containerOf({ spec }: TargetRecord, wanted: string | undefined): Checked<string> {
  const names = placedContainers(spec).flatMap(({ kind, spec: { name } }) => (kind === 'init' ? [] : [name]));
  const [only, ...more] = names;
  if (wanted === undefined && only !== undefined && more.length === 0) return ok(only);
  if (wanted !== undefined && names.includes(wanted)) return ok(wanted);
  return invalidFields([{ pointer: '/container', detail: `must be one of ${names.join(', ')}` }]);
}
