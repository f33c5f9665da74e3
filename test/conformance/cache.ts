/**
 * kubelet's results cache as the worker vectors see it: by container ID, initial values included, which the product
 * stores nowhere.
 */

import type { CacheAction } from '../../shared/core/kubelet/worker.ts';
import type { Result } from '../../shared/core/spec/types.ts';

export type Cache = ReadonlyMap<string, Result>;

export type Update = { readonly containerID: string; readonly result: Result };

/** Applies what a worker's step asks for, in order. */
export function applyActions(
  cache: Cache,
  actions: readonly CacheAction[],
): { readonly cache: Cache; readonly updates: readonly Update[] } {
  const next = new Map(cache);
  const updates: Update[] = [];
  for (const action of actions) {
    const { containerID } = action;
    if (action.kind === 'remove') next.delete(containerID);
    else if (next.get(containerID) !== action.result) {
      next.set(containerID, action.result);
      updates.push({ containerID, result: action.result });
    }
  }
  return { cache: next, updates };
}
