import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { goldenTemplate, normalisedTasks, normalisedTemplate, tasksTemplate } from '../support/write-template.ts';

test('the template is the golden one (test/support/write-template.ts writes it again)', () =>
  assert.deepEqual(normalisedTemplate(), JSON.parse(readFileSync(goldenTemplate, 'utf8'))));

test('what tasks add to it and change in it is golden, too', () =>
  assert.deepEqual(normalisedTasks(), JSON.parse(readFileSync(tasksTemplate, 'utf8'))));
