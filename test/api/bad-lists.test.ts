/** A body of several manifests that cannot be registered: what each of them is answered, with its place and the pointers within it. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { apiWorld } from './world.ts';

const folder = new URL('bad-lists/', import.meta.url);
const files = readdirSync(folder);
const mistakes = files.filter((file) => file.endsWith('.yaml')).map((file) => file.replace(/\.yaml$/, ''));
const read = (file: string) => readFileSync(new URL(file, folder), 'utf8');

describe('each bad list gets exactly its answer, and nothing of it is stored', () => {
  for (const mistake of mistakes)
    test(mistake, async () => {
      const world = apiWorld();
      const response = await world.request('PUT', '/v1/namespaces/default/targets', {
        headers: { 'content-type': 'application/yaml' },
        body: read(`${mistake}.yaml`),
      });
      const answer = JSON.parse(read(`${mistake}.answer.json`));
      assert.deepEqual(await response.json(), answer);
      assert.equal(response.status, 'items' in answer ? 200 : answer.status);
      assert.equal(await world.everything(), 0);
    });

  test('each mistake has its answer, and each answer its mistake', () => {
    const answers = files.filter((file) => file.endsWith('.answer.json'));
    assert.deepEqual(
      answers.map((file) => file.replace(/\.answer\.json$/, '')),
      mistakes,
    );
  });
});
