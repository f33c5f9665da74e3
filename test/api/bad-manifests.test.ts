import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { apiWorld, manifest, targetPath } from './world.ts';

const folder = new URL('bad-manifests/', import.meta.url);
const files = readdirSync(folder);
const mistakes = files.filter((file) => file.endsWith('.yaml')).map((file) => file.replace(/\.yaml$/, ''));
const read = (file: string) => readFileSync(new URL(file, folder), 'utf8');

describe('each bad manifest gets exactly its problem, and nothing of it is stored', () => {
  for (const mistake of mistakes)
    test(mistake, async () => {
      const world = apiWorld();
      const response = await world.request('PUT', targetPath('bad'), {
        headers: { 'content-type': 'application/yaml' },
        body: read(`${mistake}.yaml`),
      });
      const problem = JSON.parse(read(`${mistake}.problem.json`));
      assert.equal(response.headers.get('content-type'), 'application/problem+json');
      assert.deepEqual(await response.json(), problem);
      assert.equal(response.status, problem.status);
      assert.equal(await world.everything(), 0);
    });

  test('each mistake has its problem, and each problem its mistake', () => {
    const problems = files.filter((file) => file.endsWith('.problem.json'));
    assert.deepEqual(
      problems.map((file) => file.replace(/\.problem\.json$/, '')),
      mistakes,
    );
  });
});

test('a known target stays as it is when it is replaced by a bad manifest', async () => {
  const world = apiWorld();
  await world.request('PUT', targetPath('bad'), { body: manifest() });
  const before = await world.items('bad');
  for (const mistake of mistakes.filter((each) => each.startsWith('h'))) {
    const body = read(`${mistake}.yaml`);
    await world.request('PUT', targetPath('bad'), { headers: { 'content-type': 'application/yaml' }, body });
  }
  assert.deepEqual(await world.items('bad'), before);
});
