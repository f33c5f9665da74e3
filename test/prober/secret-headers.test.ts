import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { HttpRequest } from '../../shared/core/spec/handler-http-get.ts';
import { resolveProbeRequest } from '../../shared/core/spec/probe-request.ts';
import { maySend, type SecretReference, secretHost } from '../../shared/core/spec/secret-hosts.ts';
import type { Attempt } from '../../shared/core/spec/types.ts';
import { withSecretHeaders } from '../../shared/prober/secret-headers.ts';
import { column } from '../support/columns.ts';
import { immediateClock } from '../support/immediate-clock.ts';

const healthy: Attempt = { outcome: 'success', output: '', timings: { totalMs: 1 } };

function prober(values: { readonly [name: string]: string }, hosts: readonly string[] = ['127.0.0.1']) {
  const sent: HttpRequest[] = [];
  const asked: SecretReference[] = [];
  const allowed = hosts.flatMap((text) => secretHost(text) ?? []);
  const probe = withSecretHeaders(
    async (request) => {
      sent.push(request);
      return healthy;
    },
    {
      clock: immediateClock(),
      secrets: {
        refusal: (reference, to) =>
          maySend(new Map([[`${reference.source}:${reference.name}`, allowed]]), reference, to)
            ? undefined
            : `not to ${to.host}, ${to.port}`,
        resolve: async (reference) => {
          asked.push(reference);
          const value = values[reference.name];
          return value === undefined ? { kind: 'none', why: 'there is none' } : { kind: 'value', value };
        },
      },
    },
  );
  return { sent, asked, probe };
}

const request = (value: string, url = 'http://127.0.0.1/'): HttpRequest => ({
  kind: 'http',
  url,
  headers: [['Authorization', value]],
  hostOverride: '',
  timeoutMs: 1000,
});

test('a reference is replaced by the secret, which is asked for once', async () => {
  const { sent, asked, probe } = prober({ TOKEN: 'Bearer s3cret' });
  await probe(request('env:TOKEN'));
  await probe(request('env:TOKEN'));
  assert.deepEqual(column(sent, 'headers'), Array(2).fill([['Authorization', 'Bearer s3cret', 'secret']]));
  assert.deepEqual(asked, [{ source: 'env', name: 'TOKEN' }]);
});

test('a secret that cannot be resolved is a prober error, and nothing is sent', async () => {
  const { sent, probe } = prober({});
  const attempt = await probe(request('ssm:/app/token'));
  assert.equal(attempt.failureClass, 'PROBER');
  const says = /header Authorization: the secret ssm:\/app\/token cannot be resolved: there is none$/;
  assert.match(attempt.error ?? '', says);
  assert.deepEqual(sent, []);
});

test('what was thrown while a secret was asked for is not shown', async () => {
  const resolve = () => Promise.reject(new Error('s3cret is not what I expected'));
  const secrets = { refusal: () => undefined, resolve };
  const probe = withSecretHeaders(async () => healthy, { clock: immediateClock(), secrets });
  const { outcome, error } = await probe(request('env:TOKEN'));
  assert.equal(outcome, 'unknown');
  assert.equal(error, 'header Authorization: the secret env:TOKEN cannot be resolved: asking for it failed');
});

test('a literal value passes as it is', async () => {
  const { sent, probe } = prober({});
  await probe(request('plain'));
  assert.deepEqual(sent[0]?.headers, [['Authorization', 'plain']]);
});

describe('a secret is bound to its hosts', () => {
  const urls: readonly (readonly [hosts: readonly string[], url: string, isSent: boolean])[] = [
    [['127.0.0.1'], 'http://127.0.0.1:8080/', true],
    [['127.0.0.1'], 'http://127.0.0.2:8080/', false],
    [['127.0.0.1:8080'], 'http://127.0.0.1:8080/', true],
    [['127.0.0.1:8080'], 'http://127.0.0.1:8081/', false],
    [['127.0.0.1:80', '127.0.0.1:443'], 'https://127.0.0.1/', true],
    [['127.0.0.1:80'], 'https://127.0.0.1/', false],
    [['shop.test'], 'http://SHOP.test/', true],
    [['shop.test'], 'http://shop.test@evil.test/', false],
    [['shop.test'], 'http://evil.test/?shop.test', false],
    [['shop.test'], 'http://evil.test#@shop.test/', false],
    [['shop.test'], 'http://evil.test/@shop.test', false],
    [['xn--bcher-kva.test'], 'http://b%C3%BCcher.test/', true],
    [['[2001:db8::1]:443'], 'https://[2001:DB8:0::1]/', true],
    [['2001:db8::1'], 'https://[2001:db8::2]/', false],
    [[], 'http://127.0.0.1/', false],
    [['shop.test'], 'mailto:shop.test', false],
  ];
  for (const [hosts, url, isSent] of urls)
    test(`${hosts.join(', ') || 'none'}: ${url}`, async () => {
      const { sent, asked, probe } = prober({ TOKEN: 'hush' }, hosts);
      const { outcome, failureClass } = await probe(request('env:TOKEN', url));
      assert.deepEqual([outcome, failureClass], isSent ? ['success', undefined] : ['unknown', 'PROBER']);
      assert.deepEqual([sent.length, asked.length], isSent ? [1, 1] : [0, 0], 'it is not even asked for');
    });

  test('also when its value is known already', async () => {
    const { sent, probe } = prober({ TOKEN: 'hush' });
    await probe(request('env:TOKEN'));
    const { error } = await probe(request('env:TOKEN', 'http://127.0.0.2/'));
    const says = /^header Authorization: the secret env:TOKEN cannot be resolved: not to 127\.0\.0\.2, 80$/;
    assert.match(error ?? '', says);
    assert.equal(sent.length, 1);
  });

  const target = { namespace: 'default', name: 'shop', uid: 'u' };
  const authorization = { name: 'Authorization', value: 'env:TOKEN' };
  const probeOf = (httpGet: object) => {
    const handler = { httpGet: { port: 80, httpHeaders: [authorization], ...httpGet }, timeoutSeconds: 1 };
    const resolved = resolveProbeRequest(handler, { target, host: '127.0.0.1', container: { name: 'main' } });
    assert.ok(resolved.kind === 'request' && resolved.request.kind === 'http');
    return prober({ TOKEN: 'hush' }).probe(resolved.request);
  };
  for (const [what, httpGet, outcome] of [
    ['the target’s host', {}, 'success'],
    [
      'a Host header',
      { host: '127.0.0.2', httpHeaders: [{ name: 'Host', value: '127.0.0.1' }, authorization] },
      'unknown',
    ],
    ['the host of the probe', { host: '127.0.0.2' }, 'unknown'],
    ['a path with a host of its own', { host: '127.0.0.2', path: 'http://127.0.0.1/' }, 'unknown'],
    ['a path without a slash', { host: '127.0.0.2', path: '@127.0.0.1/' }, 'unknown'],
  ] as const)
    test(`by what is dialled: ${what}`, async () => assert.equal((await probeOf(httpGet)).outcome, outcome));
});

describe('a secret that no header can carry is a prober error', () => {
  const bytes = [...Array(0x20).keys(), 0x7f].filter((byte) => byte !== 0x09);
  const says = /: its value has a line break or another control character, which no header can carry$/;
  for (const byte of bytes)
    test(`with byte ${byte}`, async () => {
      for (const value of ['hush\0', 'hu\0sh', '\0'].map((text) => text.replace('\0', String.fromCharCode(byte)))) {
        const { sent, probe } = prober({ TOKEN: value });
        const { outcome, error, failureClass } = await probe(request('env:TOKEN'));
        assert.deepEqual([outcome, failureClass, sent.length], ['unknown', 'PROBER', 0]);
        assert.match(error ?? '', says);
      }
    });

  test('but not one with a tab or letters beyond ASCII', async () => {
    const { sent, probe } = prober({ TOKEN: 'h\tüsh \u010d\u010a' });
    await probe(request('env:TOKEN'));
    assert.equal(sent.length, 1);
  });
});
