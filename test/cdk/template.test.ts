import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { goldenTemplate, normalisedTemplate } from '../support/write-template.ts';

test('the template is the golden one (test/support/write-template.ts writes it again)', () =>
  assert.deepEqual(normalisedTemplate(), JSON.parse(readFileSync(goldenTemplate, 'utf8'))));
