import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SecretReference } from '../../shared/core/secret-reference.ts';
import type { Attempt } from '../../shared/core/types.ts';
import type { HttpRequest } from '../../shared/prober/prober.ts';
import { withSecretHeaders } from '../../shared/prober/secret-headers.ts';
import { immediateClock } from '../support/immediate-clock.ts';

const healthy: Attempt = { outcome: 'success', output: '', timings: { totalMs: 1 } };

function prober(secrets: { readonly [name: string]: string }) {
  const sent: HttpRequest[] = [];
  const asked: SecretReference[] = [];
  const probe = withSecretHeaders(
    async (request) => {
      sent.push(request);
      return healthy;
    },
    {
      clock: immediateClock(),
      resolveSecret: async (reference) => {
        asked.push(reference);
        const value = secrets[reference.name];
        return value === undefined ? { kind: 'none', why: 'there is none' } : { kind: 'value', value };
      },
    },
  );
  return { sent, asked, probe };
}

const request = (value: string): HttpRequest => ({
  kind: 'http',
  url: 'http://127.0.0.1/',
  headers: [['Authorization', value]],
  hostOverride: '',
  timeoutMs: 1000,
});

test('a reference is replaced by the secret, which is asked for once', async () => {
  const { sent, asked, probe } = prober({ TOKEN: 'Bearer s3cret' });
  await probe(request('env:TOKEN'));
  await probe(request('env:TOKEN'));
  assert.deepEqual(
    sent.map(({ headers }) => headers),
    [[['Authorization', 'Bearer s3cret']], [['Authorization', 'Bearer s3cret']]],
  );
  assert.deepEqual(asked, [{ source: 'env', name: 'TOKEN' }]);
});

test('a secret that cannot be resolved is a prober error, and nothing is sent', async () => {
  const { sent, probe } = prober({});
  const attempt = await probe(request('ssm:/app/token'));
  assert.equal(attempt.failureClass, 'PROBER');
  assert.match(
    attempt.error ?? '',
    /header Authorization: the secret ssm:\/app\/token cannot be resolved: there is none$/,
  );
  assert.deepEqual(sent, []);
});

test('what was thrown while a secret was asked for is not told', async () => {
  const resolveSecret = () => Promise.reject(new Error('s3cret is not what I expected'));
  const probe = withSecretHeaders(async () => healthy, { clock: immediateClock(), resolveSecret });
  const { outcome, error } = await probe(request('env:TOKEN'));
  assert.equal(outcome, 'unknown');
  assert.equal(error, 'header Authorization: the secret env:TOKEN cannot be resolved: asking for it failed');
});

test('a literal value passes as it is', async () => {
  const { sent, probe } = prober({});
  await probe(request('plain'));
  assert.deepEqual(sent[0]?.headers, [['Authorization', 'plain']]);
});
