import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { environmentSecret } from '../../functions/local/environment-secret.ts';

test('a header gets only the variables that are meant for it, as the documentation says', async () => {
  process.env.PROBELET_SECRET_TOKEN = 'hush';
  process.env.PROBELET_OTHER = 'not yours';
  assert.equal(await environmentSecret({ source: 'env', name: 'PROBELET_SECRET_TOKEN' }), 'hush');
  assert.equal(await environmentSecret({ source: 'env', name: 'PROBELET_SECRET_NONE' }), undefined);
  assert.equal(await environmentSecret({ source: 'env', name: 'PROBELET_OTHER' }), undefined);
  assert.equal(await environmentSecret({ source: 'ssm', name: 'PROBELET_SECRET_TOKEN' }), undefined);
  for (const document of ['docs/api.md', 'SECURITY.md']) {
    assert.match(readFileSync(join(import.meta.dirname, '../..', document), 'utf8'), /`PROBELET_SECRET_`/);
  }
});
