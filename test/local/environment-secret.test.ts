import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { environmentSecret } from '../../functions/local/environment-secret.ts';

test('a header gets only the variables that are meant for it, as the documentation says', async () => {
  process.env.PROBELET_SECRET_TOKEN = 'hush';
  process.env.PROBELET_OTHER = 'not yours';
  const token = { source: 'env', name: 'PROBELET_SECRET_TOKEN' } as const;
  assert.deepEqual(await environmentSecret(token), { kind: 'value', value: 'hush' });
  const refused = [
    [{ source: 'env', name: 'PROBELET_SECRET_NONE' }, 'there is no such variable'],
    [{ source: 'env', name: 'PROBELET_OTHER' }, 'its name has to begin with PROBELET_SECRET_'],
    [{ source: 'ssm', name: 'PROBELET_SECRET_TOKEN' }, 'npm start resolves env: alone'],
  ] as const;
  for (const [reference, why] of refused) assert.deepEqual(await environmentSecret(reference), { kind: 'none', why });
  for (const document of ['docs/api.md', 'SECURITY.md']) {
    assert.match(readFileSync(join(import.meta.dirname, '../..', document), 'utf8'), /`PROBELET_SECRET_`/);
  }
});
