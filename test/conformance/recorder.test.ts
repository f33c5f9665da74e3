/** How `npm run record` answers wrong use. Recording itself takes minutes and is no part of the tests. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, test } from 'node:test';

const main = join(import.meta.dirname, 'recorder/main.ts');
const record = (args: readonly string[], env = process.env) =>
  spawnSync(process.execPath, [main, ...args], { encoding: 'utf8', env });

describe('recording ends with 2 and says what is wrong', () => {
  const cases: readonly (readonly [string, readonly string[], RegExp])[] = [
    ['an option that does not exist', ['--kubernets', 'v1.36.3'], /kubernets/],
    ['a version without its v', ['--kubernetes', '1.36.3'], /no version of Kubernetes/],
    ['a folder that does not exist', ['--vectors', join(import.meta.dirname, 'none')], /no vectors in /],
    ['a folder without vectors', ['--vectors', import.meta.dirname], /no vectors in /],
    ['a family without vectors', ['--only', 'none'], /no vectors of none in /],
  ];
  for (const [name, args, message] of cases)
    test(name, () => {
      const { status, stderr } = record(args);
      assert.match(stderr, message);
      assert.equal(status, 2);
    });

  test('no Go on the path', () => {
    const { status, stderr } = record([], { ...process.env, PATH: '' });
    assert.match(stderr, /^no go found/);
    assert.equal(status, 2);
  });
});
