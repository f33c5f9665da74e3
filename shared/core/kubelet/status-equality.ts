/** When two statuses are the same to kubelet (pkg/kubelet/status: isPodStatusByKubeletEqual). */
import { isCompared } from './condition-owners.ts';
import { sameValue } from './equality.ts';
import type { Condition, PodStatus } from './types.ts';

/** Compares only kubelet's own conditions, without their times and generation. Both statuses must be in normal form. */
export function samePodStatus(a: PodStatus, b: PodStatus): boolean {
  const { conditions: conditionsOfA, ...restOfA } = a;
  const { conditions: conditionsOfB, ...restOfB } = b;
  return sameConditions(conditionsOfA, conditionsOfB) && sameValue(restOfA, restOfB);
}

function sameConditions(a: readonly Condition[], b: readonly Condition[]): boolean {
  const byTypeOfA = comparedByType(a);
  const byTypeOfB = comparedByType(b);
  if (byTypeOfA.size !== byTypeOfB.size) return false;
  return [...byTypeOfB].every(([type, condition]) => {
    const other = byTypeOfA.get(type);
    return other !== undefined && sameVerdict(other, condition);
  });
}

const comparedByType = (conditions: readonly Condition[]): ReadonlyMap<string, Condition> =>
  new Map(conditions.filter(({ type }) => isCompared(type)).map((condition) => [condition.type, condition]));

const sameVerdict = (a: Condition, b: Condition): boolean =>
  a.status === b.status && a.reason === b.reason && a.message === b.message;
