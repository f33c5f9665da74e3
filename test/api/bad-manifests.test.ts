import assert from 'node:assert/strict';
import { describe } from 'node:test';
import { mistakesOf, testMistakes } from './mistakes.ts';
import { inWorld, manifest, targetPath, yaml } from './world.ts';

const path = targetPath('bad');
const mistakes = mistakesOf(new URL('bad-manifests/', import.meta.url), 'problem');

describe('each bad manifest gets exactly its problem, and nothing of it is stored', () =>
  testMistakes(mistakes, path, ({ status, headers }, problem) => {
    assert.equal(headers.get('content-type'), 'application/problem+json');
    assert.equal(status, problem.status);
  }));

inWorld('a known target stays as it is when it is replaced by a bad manifest', async (world) => {
  await world.expect(201, 'PUT', path, manifest());
  const before = await world.items('bad');
  for (const mistake of mistakes.names.filter((each) => each.startsWith('h')))
    await world.ask('PUT', path, mistakes.bodyOf(mistake), yaml);
  assert.deepEqual(await world.items('bad'), before);
});
