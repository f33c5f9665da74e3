/** The results cache of one probe type (pkg/kubelet/prober/results): container ID → result, with change detection. */
import { parseContainerID } from './container-id.ts';
import type { Result } from './types.ts';
import type { CacheAction } from './worker.ts';

/** Keyed by the parsed container ID: malformed ones share one entry. The target's uid is no part of the key. */
export type ResultsCache = ReadonlyMap<string, Result>;

export const emptyCache: ResultsCache = new Map();

/** A change of the cache, as its readers are told. */
export type ResultUpdate = { readonly containerID: string; readonly result: Result };

/** kubelet's `setInternal`: there is an update only if there was no entry or a different one. */
export function setResult(
  cache: ResultsCache,
  containerID: string,
  result: Result,
): { readonly cache: ResultsCache; readonly update?: ResultUpdate } {
  const key = parseContainerID(containerID);
  if (cache.get(key) === result) return { cache };
  return { cache: new Map(cache).set(key, result), update: { containerID: key, result } };
}

export function getResult(cache: ResultsCache, containerID: string): Result | undefined {
  return cache.get(parseContainerID(containerID));
}

/** Removing tells nobody. */
export function removeResult(cache: ResultsCache, containerID: string): ResultsCache {
  const key = parseContainerID(containerID);
  if (!cache.has(key)) return cache;
  return new Map([...cache].filter(([id]) => id !== key));
}

/** Applies what a worker's step asks for, in order. */
export function applyActions(
  cache: ResultsCache,
  actions: readonly CacheAction[],
): { readonly cache: ResultsCache; readonly updates: readonly ResultUpdate[] } {
  const updates: ResultUpdate[] = [];
  let next = cache;
  for (const action of actions) {
    if (action.kind === 'remove') {
      next = removeResult(next, action.containerID);
      continue;
    }
    const set = setResult(next, action.containerID, action.result);
    next = set.cache;
    if (set.update) updates.push(set.update);
  }
  return { cache: next, updates };
}
