/** docs/cli.md is what the commands say of themselves. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { cliDocument, cliReference } from '../support/generate-cli.ts';

test('docs/cli.md is current (npm exec -- node test/support/generate-cli.ts)', async () => {
  assert.deepEqual(readFileSync(cliDocument, 'utf8').split('\n'), (await cliReference()).split('\n'));
});

test('every command shows examples', async () => {
  const sections = (await cliReference()).split(/^## /m).filter((each) => each.includes('```text'));
  assert.deepEqual(
    sections.filter((each) => !/^Examples?:$/m.test(each)).map((each) => each.split('\n')[0]),
    [],
  );
});
