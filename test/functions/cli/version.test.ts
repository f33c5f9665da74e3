/** `probelet --version`. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { cliFiles } from './files.ts';

const { ran } = cliFiles('--version');

test('prints the version of package.json, exit code 0', async () => {
  const { version } = JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8'));
  assert.deepEqual(await ran(), { code: 0, out: `${version}\n`, err: [] });
});
