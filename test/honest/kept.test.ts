import assert from 'node:assert/strict';
import { test } from 'node:test';
import { keptFailing } from './kept.ts';
import { foundIn } from './shortest.ts';

for (const { found, steps } of keptFailing())
  test(`nothing is shown that was not seen: ${found}`, async () => assert.equal(await foundIn(steps), undefined));
