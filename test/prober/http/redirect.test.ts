import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { firstHop, type Hop, nextStep } from '../../../shared/prober/http/redirect.ts';
import type { Headers } from '../../../shared/prober/http/request.ts';
import { httpUrl } from '../../../shared/prober/http/url.ts';

const start = (url: string, headers: Headers = [], hostOverride = '') =>
  firstHop({ url: httpUrl(url), headers, hostOverride });

const led = (hop: Hop, location: string, status = 302): Hop => {
  const step = nextStep(hop, status, location);
  return step.kind === 'follow' ? step.hop : assert.fail(step.kind);
};

const kindOf = (url: string, location: string, status = 302) => nextStep(start(url), status, location).kind;

describe('a redirect', () => {
  for (const status of [301, 302, 303, 307, 308])
    test(`${status} is followed`, () => assert.equal(kindOf('http://a/', '/b', status), 'follow'));
  for (const status of [200, 300, 304, 305, 306, 309, 404])
    test(`${status} is none`, () => assert.equal(kindOf('http://a/', '/b', status), 'stay'));

  for (const [first, location, kind] of [
    ['http://a/', '', 'stay'],
    ['http://a/', '//b/', 'stay'],
    ['http://a/', '//A/', 'stay'],
    ['http://a/', 'http:/x', 'stay'],
    ['http://a/', 'mailto:x', 'stay'],
    ['http://a/', 'http://%zz/', 'failed'],
    ['http://a:1/', 'http://a:2/', 'follow'],
    ['http://a/', 'https://a/', 'follow'],
    ['http://a/', 'ftp://a/', 'follow'],
    ['http://[::1]:1/', 'http://[::1]:2/', 'follow'],
    ['http://[::1]:1/', 'http://[0::1]:2/', 'stay'],
    ['http://127.0.0.1/', 'http://127.1/', 'stay'],
  ] as const)
    test(`from ${first} to ${JSON.stringify(location)}: ${kind}`, () => assert.equal(kindOf(first, location), kind));

  test('is compared with the first host name, however far it has come', () => {
    const hop = led(start('http://a:1/'), 'http://a:2/');
    assert.equal(nextStep(hop, 302, 'http://b:1/').kind, 'stay');
  });

  test('is followed nine times, and the tenth fails', () => {
    let hop = start('http://a/0');
    for (let at = 1; at <= 9; at += 1) hop = led(hop, `/${at}`);
    const message = 'Get "/é": stopped after 10 redirects';
    assert.deepEqual(nextStep(hop, 302, '/\xc3\xa9'), { kind: 'failed', message });
    assert.equal(nextStep(hop, 302, '//b/').kind, 'stay', 'another host is looked at first');
  });

  test('sends the fields of the first request again, with where it comes from', () => {
    const hop = led(start('http://u:p@a/x?y#z', [['X-A', '1']]), '/b');
    assert.deepEqual(hop.headers, [
      ['X-A', '1'],
      ['Referer', 'http://a/x?y#z'],
    ]);
    assert.deepEqual(led(hop, '/c').headers.at(-1), ['Referer', 'http://a/b']);
  });

  test('keeps a given Referer', () => {
    const own: Headers = [['Referer', 'http://own/']];
    assert.deepEqual(led(start('http://a/', own), '/b').headers, own);
  });

  test('from HTTPS to HTTP has no Referer', () => {
    assert.deepEqual(led(start('https://a/'), 'http://a/').headers, []);
    assert.equal(led(start('https://a/'), '/b').headers.length, 1);
  });

  test('drops the headers about a body, for good, unless it keeps the method', () => {
    const typed: Headers = [['Content-Type', 'text/plain']];
    const names = (hop: Hop) => hop.headers.map(([name]) => name);
    assert.deepEqual(names(led(start('http://a/', typed), '/b', 307)), ['Content-Type', 'Referer']);
    const dropped = led(start('http://a/', typed), '/b', 301);
    assert.deepEqual(names(dropped), ['Referer']);
    assert.deepEqual(names(led(dropped, '/c', 308)), ['Referer']);
  });

  test('keeps a secret only where it goes to the same scheme, host and port', () => {
    const secret: Headers = [['X-A', 'hush', 'secret']];
    const isKept = (hop: Hop) => hop.headers.some(([, value]) => value === 'hush');
    const to = (url: string, location: string) => isKept(led(start(url, secret), location));
    for (const location of ['http://a:80/', '/b', '//a']) assert.ok(to('http://a/', location), location);
    assert.ok(to('https://a:443/', 'https://a/'));
    assert.deepEqual([to('http://a/', 'http://a:81/'), to('http://a:443/', 'https://a/')], [false, false]);
    const away = led(start('http://a/', secret), 'http://a:81/');
    assert.equal(isKept(led(away, 'http://a/')), false);
  });

  test('keeps the Host override while the Location has no scheme', () => {
    const first = start('http://a/', [], 'h.test');
    assert.equal(led(first, '/b').hostOverride, 'h.test');
    assert.equal(led(first, '//a/b').hostOverride, 'h.test');
    const absolute = led(first, 'http://a/b');
    assert.equal(absolute.hostOverride, '');
    assert.equal(led(absolute, '/c').hostOverride, '');
  });
});
