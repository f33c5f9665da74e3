/** The program itself: its version, and one line about wrong use that says which help to read. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { ranCli } from './run.ts';

test('--version prints the version of package.json, exit code 0', async () => {
  const { version } = JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8'));
  assert.deepEqual(await ranCli(['--version']), { code: 0, out: `${version}\n`, err: [] });
});

const wrongUses: readonly (readonly [command: string, line: string])[] = [
  ['gte targets', "error: unknown command 'gte' (Did you mean get?) See 'probelet --help'."],
  ['--nope', "error: unknown option '--nope'. See 'probelet --help'."],
  ['get', "error: missing required argument 'resource'. See 'probelet get --help'."],
  ['get targets --nope', "error: unknown option '--nope'. See 'probelet get --help'."],
];

for (const [command, line] of wrongUses)
  test(`probelet ${command} is wrong use: one line, exit code 2`, async () =>
    assert.deepEqual(await ranCli(command.split(' ')), { code: 2, out: '', err: [line] }));
