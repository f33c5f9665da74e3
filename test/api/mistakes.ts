/** The bodies of a folder that cannot be registered, `X.yaml`, each with what it is answered: `X.answer.json`. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { apiWorld, yaml } from './world.ts';

export function mistakesOf(folder: URL, answerKind: 'answer' | 'problem') {
  const read = (file: string) => readFileSync(new URL(file, folder), 'utf8');
  const files = readdirSync(folder);
  const named = (ending: string) =>
    files.filter((file) => file.endsWith(ending)).map((file) => file.slice(0, -ending.length));
  return {
    names: named('.yaml'),
    answered: named(`.${answerKind}.json`),
    bodyOf: (name: string) => read(`${name}.yaml`),
    answerOf: (name: string) => JSON.parse(read(`${name}.${answerKind}.json`)),
  };
}

/** A test of each body, which is PUT there. `check` has what is particular to the folder. */
export function testMistakes(
  { names, answered, bodyOf, answerOf }: ReturnType<typeof mistakesOf>,
  path: string,
  check: (
    answer: { readonly status: number; readonly headers: Headers },
    expected: { readonly status: number },
  ) => void,
): void {
  for (const name of names)
    test(name, async () => {
      const world = apiWorld();
      const answer = await world.ask('PUT', path, bodyOf(name), yaml);
      const expected = answerOf(name);
      assert.deepEqual(answer.body, expected);
      check(answer, expected);
      assert.equal(await world.everything(), 0);
    });

  test('each mistake has its answer, and each answer its mistake', () => assert.deepEqual(answered, names));
}
