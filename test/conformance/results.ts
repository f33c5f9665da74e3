/** results.jsonl: the results cache and its update stream. */
import { emptyCache, getResult, type ResultsCache, removeResult, setResult } from '../../shared/core/results.ts';
import type { Result } from '../../shared/core/types.ts';
import { compare } from './compare.ts';
import type { VectorRunner } from './runner.ts';

type Op = {
  readonly op: 'set' | 'get' | 'remove';
  readonly containerID: string;
  readonly result?: Result;
  readonly podUID?: string;
  readonly found?: boolean;
  readonly get?: Result;
  readonly updates: readonly unknown[];
};

export const runResults: VectorRunner = (vector) => {
  let cache = emptyCache;
  for (const [index, op] of (vector.ops as readonly Op[]).entries()) {
    const done = apply(cache, op);
    cache = done.cache;
    const expected = { updates: op.updates, ...(op.op === 'get' && { found: op.found ?? false, get: op.get }) };
    const different = compare(`op ${index} (${op.op})`, done.answer, expected);
    if (different) return different;
  }
  return undefined;
};

function apply(cache: ResultsCache, op: Op): { readonly cache: ResultsCache; readonly answer: unknown } {
  switch (op.op) {
    case 'get': {
      const get = getResult(cache, op.containerID);
      return { cache, answer: { updates: [], found: get !== undefined, get } };
    }
    case 'remove':
      return { cache: removeResult(cache, op.containerID), answer: { updates: [] } };
    case 'set': {
      if (op.result === undefined) throw new Error('a set without a result');
      const set = setResult(cache, op.containerID, op.result);
      const updates = set.update ? [{ ...set.update, podUID: op.podUID }] : [];
      return { cache: set.cache, answer: { updates } };
    }
  }
}
