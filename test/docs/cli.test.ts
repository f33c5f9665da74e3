/** docs/cli.md is what the commands say of themselves. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { cliDocument, cliReference } from '../support/generate-cli.ts';

test('docs/cli.md is current (npm exec -- node test/support/generate-cli.ts)', () => {
  assert.deepEqual(readFileSync(cliDocument, 'utf8').split('\n'), cliReference().split('\n'));
});
