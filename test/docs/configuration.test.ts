/** docs/configuration.md, docs/alerts.md and the published JSON Schema are those of the code. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { parseConfig } from '../../shared/config/read-config.ts';
import { configSchemaFile } from '../support/generate-schemas.ts';
import { fencesOf } from '../support/markdown.ts';

test('the published JSON Schema is that of the code', () => {
  const { url, schema } = configSchemaFile();
  assert.deepEqual(JSON.parse(readFileSync(url, 'utf8')), schema);
});

for (const name of ['configuration', 'alerts'])
  test(`the example in docs/${name}.md is valid`, () => {
    const text = readFileSync(new URL(`../../docs/${name}.md`, import.meta.url), 'utf8');
    const [example = ''] = fencesOf(text, 'yaml');
    const read = parseConfig(example);
    assert.equal(read.kind, 'config', JSON.stringify(read));
  });
