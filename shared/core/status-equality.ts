/** When two statuses are the same to kubelet (pkg/kubelet/status: isPodStatusByKubeletEqual). */
import { isCompared } from './condition-owners.ts';
import type { Condition, PodStatus } from './types.ts';

/**
 * Of the conditions only kubelet's own count, and of those neither the times nor the generation. Both statuses must be in normal form.
 */
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
  a.status === b.status && sameValue(a.reason, b.reason) && sameValue(a.message, b.message);

/** Structural; an absent text and an empty one are the same, null and false are not. */
export function sameValue(a: unknown, b: unknown): boolean {
  if ((a ?? '') === '' && (b ?? '') === '') return (a === null) === (b === null);
  if (!isObject(a) || !isObject(b)) return a === b;
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  const keys = new Set([...Object.keys(a), ...Object.keys(b)]);
  return [...keys].every((key) => sameValue(a[key], b[key]));
}

const isObject = (value: unknown): value is { readonly [key: string]: unknown } =>
  typeof value === 'object' && value !== null;
