/** docs/alerts.md and its JSON Schema are those of the code. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { readAlertConfig } from '../../shared/alerts/read-config.ts';
import { alertSchemaFile } from '../support/generate-schemas.ts';

test('the published JSON Schema is that of the code', () => {
  const { url, schema } = alertSchemaFile();
  assert.deepEqual(JSON.parse(readFileSync(url, 'utf8')), schema);
});

test('the example in docs/alerts.md is valid', () => {
  const text = readFileSync(new URL('../../docs/alerts.md', import.meta.url), 'utf8');
  const example = /```yaml\n(.*?)```/s.exec(text)?.[1] ?? '';
  const read = readAlertConfig(example);
  assert.equal(read.kind, 'config', JSON.stringify(read));
});
