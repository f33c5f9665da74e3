import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { eventSchemas } from '../../shared/bus/events.ts';
import { compilePattern } from '../../shared/bus/pattern.ts';
import { eventSchemaFiles } from '../support/generate-schemas.ts';

const docs = new URL('../../docs/', import.meta.url);
const text = readFileSync(new URL('events.md', docs), 'utf8');

describe('the published JSON Schemas are those of the code', () => {
  for (const { url, schema } of eventSchemaFiles())
    test(url.pathname.split('/').at(-1) ?? '', () => assert.deepEqual(JSON.parse(readFileSync(url, 'utf8')), schema));
  test('and there are no others', () =>
    assert.equal(readdirSync(new URL('events/', docs)).length, eventSchemaFiles().length));
});

describe('docs/events.md has a row and a valid example of', () => {
  for (const [detailType, schema] of Object.entries(eventSchemas))
    test(detailType, () => {
      assert.ok(text.includes(`| \`${detailType}\` |`));
      const example = new RegExp(`### ${detailType}\\n[^#]*?\`\`\`json\\n(.*?)\`\`\``, 's').exec(text)?.[1];
      schema.parse(JSON.parse(example ?? ''));
    });
});

test('the pattern in docs/events.md compiles', () => {
  const pattern = /```json pattern\n(.*?)```/s.exec(text)?.[1];
  compilePattern(JSON.parse(pattern ?? ''));
});
