/** The probes of labels, one table: the text, and the probe that it stands for. What is wrong is in the galleries. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { probeTextLengthMax } from '../../shared/manifest/limits.ts';
import { parseProbe } from '../../shared/manifest/short-form.ts';

const rows: readonly (readonly [text: string, probe: object])[] = [
  ['http:8080', { httpGet: { port: 8080 } }],
  ['http:8080/', { httpGet: { port: 8080, path: '/' } }],
  ['http:8080/live?a=b#c periodSeconds=10', { httpGet: { port: 8080, path: '/live?a=b#c' }, periodSeconds: 10 }],
  ['  https:web/a:b  ', { httpGet: { port: 'web', path: '/a:b', scheme: 'HTTPS' } }],
  ["http:80/'a b'", { httpGet: { port: 80, path: '/a b' } }],
  [
    'tcp:5432\ttimeoutSeconds=2\nfailureThreshold=5',
    { tcpSocket: { port: 5432 }, timeoutSeconds: 2, failureThreshold: 5 },
  ],
  ['grpc:9090', { grpc: { port: 9090 } }],
  ['grpc:9090/', { grpc: { port: 9090, service: '' } }],
  [
    'grpc:9090/shop.v1/Prices initialDelaySeconds=0',
    { grpc: { port: 9090, service: 'shop.v1/Prices' }, initialDelaySeconds: 0 },
  ],
  ['exec:/bin/check', { exec: { command: ['/bin/check'] } }],
  [
    'exec:pg_isready -h "a b" successThreshold=1 x=1',
    { exec: { command: ['pg_isready', '-h', 'a b', 'x=1'] }, successThreshold: 1 },
  ],
  ["exec:sh -c 'a; b=\"c\"' ''", { exec: { command: ['sh', '-c', 'a; b="c"', ''] } }],
  ['tcp:1 terminationGracePeriodSeconds=5', { tcpSocket: { port: 1 }, terminationGracePeriodSeconds: 5 }],
  ['{"tcpSocket": {"port": 1}, "periodSeconds": 5}', { tcpSocket: { port: 1 }, periodSeconds: 5 }],
];

describe('the text of a probe', () => {
  for (const [text, probe] of rows)
    test(JSON.stringify(text), () => assert.deepEqual(parseProbe(text), { kind: 'probe', probe }));

  test('has a bounded length', () => {
    assert.equal(parseProbe(`exec:${'x'.repeat(probeTextLengthMax - 5)}`).kind, 'probe');
    assert.deepEqual(parseProbe(`exec:${'x'.repeat(probeTextLengthMax - 4)}`), {
      kind: 'malformed',
      detail: `must be at most ${probeTextLengthMax} characters`,
    });
  });

  test('of any kind is a probe or a reason', () => {
    const word = fc.oneof(
      fc.constantFrom('http:', 'exec:', 'tcp:1', 'periodSeconds=', '1', '/', "'", '"', ' ', '{', 'toString:'),
      fc.string(),
    );
    fc.assert(
      fc.property(fc.array(word, { maxLength: 6 }), (words) => {
        const parsed = parseProbe(words.join(''));
        assert.ok(parsed.kind === 'probe' || parsed.detail.length > 0);
      }),
    );
  });
});
