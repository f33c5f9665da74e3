/** Small parts of the formats: seconds, names of targets, published ports, healthchecks. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { healthcheckOf } from '../../shared/manifest/compose/healthcheck.ts';
import { publicationRemark, publishedPort } from '../../shared/manifest/compose/ports.ts';
import { wholeSeconds } from '../../shared/manifest/duration.ts';
import { targetName } from '../../shared/manifest/names.ts';
import { valueAt } from '../../shared/manifest/values.ts';

test('seconds of a probe are whole, at least one and bounded', () => {
  const rows = [
    [0, 1],
    [0.2, 1],
    [1, 1],
    [1.1, 2],
    [3 * 0.1 * 10, 3],
    [61, 60],
  ] as const;
  for (const [seconds, expected] of rows) assert.equal(wholeSeconds(seconds, 60), expected, String(seconds));
});

test('names of targets are made of what other programs allow', () => {
  const rows = [
    ['web', 'web'],
    ['Front End (EU)', 'front-end-eu'],
    ['__a..b__', 'a-b'],
    ['***', 'x-596f41'],
    [' ', ''],
    ['東京', 'x-130016'],
    ['über', 'uber-b51c85'],
    ['uber', 'uber'],
    ['東京 API', 'api-8c6056'],
    ['大阪 API', 'api-a6402f'],
    ['🔥 api', 'api-b2e3b6'],
    [`${'a'.repeat(62)}-b`, 'a'.repeat(62)],
  ] as const;
  for (const [text, expected] of rows) assert.equal(targetName(text), expected);
});

test('ports are looked up as Compose publishes them', () => {
  const rows: readonly (readonly [unknown, number, number | undefined])[] = [
    ['8080:80', 80, 8080],
    ['8080:80', 8080, undefined],
    ['127.0.0.1:8080:80/tcp', 80, 8080],
    ['8080:80/udp', 80, undefined],
    ['3000-3005:4000-4005', 4005, 3005],
    ['3000-3005:4000-4005', 4006, undefined],
    ['80', 80, undefined],
    [80, 80, undefined],
    ['$PORT:80', 80, undefined],
    [{ target: 80, published: 8080 }, 80, 8080],
    [{ target: 80 }, 80, undefined],
    [{ target: 80, published: '8080', protocol: 'udp' }, 80, undefined],
    [null, 80, undefined],
  ];
  for (const [entry, port, expected] of rows)
    assert.equal(publishedPort([entry], port), expected, JSON.stringify(entry));
  assert.equal(publishedPort(undefined, 80), undefined);
});

test('a port that Docker chooses from a range is its first one, with a remark', () => {
  const rows: readonly (readonly [readonly unknown[], number | undefined, RegExp | undefined])[] = [
    [['8080-8090:80'], 8080, /^publishes port 80 at one of 8080 to 8090/],
    [[{ target: 80, published: '8080-8090' }], 8080, /^publishes port 80 at one of 8080 to 8090/],
    [['8080-8080:80'], 8080, undefined],
    [['8080-8090:80', '9000:80'], 9000, undefined],
    [['8080-8090:80-90'], 8080, undefined],
    // Docker refuses these.
    [['8080-8090:80-81'], undefined, /^does not publish port 80,/],
    [['8090-8080:80'], undefined, /^does not publish port 80,/],
    [['8080:80-81'], undefined, /^does not publish port 80,/],
  ];
  for (const [ports, expected, remark] of rows) {
    assert.equal(publishedPort(ports, 80), expected, JSON.stringify(ports));
    assert.match(publicationRemark(ports, 80) ?? 'none', remark ?? /^none$/, JSON.stringify(ports));
  }
});

test('healthchecks are read for what they ask', () => {
  const names = ['localhost', '127.0.0.1', '[::1]', 'web'];
  const rows: readonly (readonly [unknown, object | string])[] = [
    [['CMD', 'curl', 'localhost:8080/a'], { httpGet: { path: '/a', port: 8080 } }],
    [['CMD', '/usr/bin/wget', '-q', 'http://[::1]/'], { httpGet: { path: '/', port: 80 } }],
    ['curl -f https://web || exit 1', { httpGet: { path: '/', port: 443, scheme: 'HTTPS' } }],
    ['curl -f "http://localhost/?a=1&b=2" || false', { httpGet: { path: '/?a=1&b=2', port: 80 } }],
    ['curl -f http://localhost || echo no', 'runs'],
    ['curl -f http://localhost; true', 'runs'],
    ['curl -f http://localhost http://localhost', 'runs'],
    ['curl -f ftp://localhost', 'runs'],
    ['curl -f http://a:b@localhost', 'runs'],
    ['curl -f http://localhost:99999', 'runs'],
    ['curl --request=POST http://localhost', 'runs'],
    ['nc -z web 80', { tcpSocket: { port: 80 } }],
    ['nc web 80', 'runs'],
    ['grpc_health_probe --addr localhost:1 --service a', { grpc: { port: 1, service: 'a' } }],
    ['grpc_health_probe -addr=other:1', 'runs'],
    ['grpc_health_probe -addr=:1 -tls', 'runs'],
    [['CMD', 'sh', '-c', 'curl http://localhost/ || exit 1'], { httpGet: { path: '/', port: 80 } }],
    [['CMD', 'sh', '-c', 'curl http://localhost/', 'more'], 'runs'],
    [['CMD', 'sh', 'curl', 'http://localhost/'], 'runs'],
    [['CMD', 'true'], 'runs'],
    [['CMD'], 'unknown'],
    [['curl'], 'unknown'],
    [undefined, 'unknown'],
    [['NONE'], 'none'],
  ];
  for (const [given, expected] of rows) {
    const found = healthcheckOf({ test: given }, names);
    const shown = found.kind === 'asks' ? found.handler : found.kind;
    assert.deepEqual(shown, expected, JSON.stringify(given));
  }
});

test('values are looked up among those that a file has', () => {
  const root = { a: [{ b: 1 }], c: 'text' };
  assert.equal(valueAt(root, ['a', 0, 'b']), 1);
  for (const path of [['a', 1], ['a', 'length'], ['c', 'length'], ['constructor'], ['a', 0, 'b', 'c']])
    assert.equal(valueAt(root, path), undefined, path.join('.'));
});
