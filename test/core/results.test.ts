import assert from 'node:assert/strict';
import { test } from 'node:test';
import { applyActions, emptyCache, getResult } from '../../shared/core/results.ts';

test('a new container’s step removes the old entry and tells only of changes', () => {
  const { cache } = applyActions(emptyCache, [{ kind: 'set', containerID: 'x://old', result: 'success' }]);
  const step = applyActions(cache, [
    { kind: 'remove', containerID: 'x://old' },
    { kind: 'set', containerID: 'x://new', result: 'failure' },
    { kind: 'set', containerID: 'x://new', result: 'failure' },
  ]);
  assert.deepEqual(step.updates, [{ containerID: 'x://new', result: 'failure' }]);
  assert.equal(getResult(step.cache, 'x://old'), undefined);
  assert.equal(getResult(cache, 'x://old'), 'success');
});
