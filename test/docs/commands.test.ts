/** docs/commands.md has each script of package.json. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { commandsDocument, commandsReference, undescribed } from '../support/generate-commands.ts';

test('every script of package.json has a description, and every description a script', () => {
  assert.deepEqual(undescribed(), []);
});

test('docs/commands.md is current (npm exec -- node test/support/generate-commands.ts)', () => {
  assert.deepEqual(readFileSync(commandsDocument, 'utf8').split('\n'), commandsReference().split('\n'));
});
