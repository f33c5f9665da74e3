import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { keepSeed, keptSeeds } from './kept-seeds.ts';

test('a failing seed is kept once, beside those that are there', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'probelet-sim-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const file = pathToFileURL(join(folder, 'seeds.json'));
  writeFileSync(file, '[]\n');
  const first = { seed: 7, hours: 24, found: 'L3' };
  keepSeed(first, file);
  keepSeed({ ...first, found: 'L4' }, file);
  keepSeed({ seed: 8, hours: 24, found: 'S2' }, file);
  assert.deepEqual(keptSeeds(file), [first, { seed: 8, hours: 24, found: 'S2' }]);
  assert.deepEqual(readdirSync(folder), ['seeds.json']);
});
