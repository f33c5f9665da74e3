/**
 * A body of several manifests that cannot be registered: what each of them is answered, with its place and the pointers
 * within it.
 */
import assert from 'node:assert/strict';
import { describe } from 'node:test';
import { mistakesOf, testMistakes } from './mistakes.ts';
import { targetsPath } from './world.ts';

describe('each bad list gets exactly its answer, and nothing of it is stored', () =>
  testMistakes(mistakesOf(new URL('bad-lists/', import.meta.url), 'answer'), targetsPath, ({ status }, expected) =>
    assert.equal(status, 'items' in expected ? 200 : expected.status),
  ));
