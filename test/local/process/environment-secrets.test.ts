import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { parseOptions } from '../../../functions/local/options/options.ts';
import { environmentSecrets } from '../../../functions/local/process/environment-secrets.ts';

const to = { host: '127.0.0.1', port: 8443 };
const token = { source: 'env', name: 'PROBELET_SECRET_TOKEN' } as const;

function started(...args: readonly string[]) {
  const parsed = parseOptions(args);
  assert.ok(parsed.kind === 'alone', JSON.stringify(parsed));
  return environmentSecrets(parsed.options.secretHosts ?? new Map());
}

test('a header gets only the variables that are meant for it, as the documentation says', async () => {
  process.env.PROBELET_SECRET_TOKEN = 'hush';
  process.env.PROBELET_OTHER = 'not yours';
  const { resolve } = started();
  assert.deepEqual(await resolve(token), { kind: 'value', value: 'hush' });
  const refused = [
    [{ source: 'env', name: 'PROBELET_SECRET_NONE' }, 'there is no such variable'],
    [{ source: 'env', name: 'PROBELET_OTHER' }, 'its name has to begin with PROBELET_SECRET_'],
    [{ source: 'ssm', name: 'PROBELET_SECRET_TOKEN' }, 'npm start resolves env: alone'],
  ] as const;
  for (const [reference, why] of refused) assert.deepEqual(await resolve(reference), { kind: 'none', why });
  for (const document of ['docs/api.md', 'SECURITY.md']) {
    assert.match(readFileSync(join(import.meta.dirname, '../../..', document), 'utf8'), /`PROBELET_SECRET_`/);
  }
});

test('a variable goes only to the hosts of its own, and the refusal says what would allow it', () => {
  const said = started().refusal(token, to);
  assert.match(said ?? '', /^it may not be sent to 127\.0\.0\.1:8443; npm start -- --secret .* would allow it$/);
  const [option = '', value = ''] = /--secret \S+/.exec(said ?? '')?.[0].split(' ') ?? [];
  assert.equal(started(option, value).refusal(token, to), undefined, 'as it says');
  assert.match(started(option, value).refusal(token, { ...to, port: 80 }) ?? '', /127\.0\.0\.1:80;/);
  const other = { source: 'env', name: 'PROBELET_SECRET_OTHER' } as const;
  assert.match(started(option, value).refusal(other, to) ?? '', /PROBELET_SECRET_OTHER=127/);
  const v6 = started().refusal(token, { host: '2001:db8::1', port: 443 });
  assert.match(v6 ?? '', / PROBELET_SECRET_TOKEN=\[2001:db8::1\]:443 /);
});
