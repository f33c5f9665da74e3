import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { isIpv6, whyNotIpv6 } from '../../../shared/core/go/ip-literal.ts';
import { probeUrl } from '../../../shared/core/go/url.ts';
import { type Handler, resolveProbeRequest } from '../../../shared/core/spec/probe-request.ts';
import type { EnvVar } from '../../../shared/core/spec/types.ts';

/** What Go 1.26's url.Parse, URL.String and http.NewRequest made of these paths and hosts. */
const urls: readonly (readonly [host: string, path: string, url: string])[] = [
  ['h', '', 'http://h:80'],
  ['h', '*', 'http://h:80/*'],
  ['h', 'a b', 'http://h:80/a%20b'],
  ['h', '/a%zz', 'http://h:80/a%25zz'],
  ['h', '/%E4', 'http://h:80/%E4'],
  ['h', '/a"<>\\^`{|}', 'http://h:80/a%22%3C%3E%5C%5E%60%7B%7C%7D'],
  ['h', "/!$&'()*+,;=:@[]~", "http://h:80/!$&'()*+,;=:@[]~"],
  ['h', '/a?', 'http://h:80/a?'],
  ['h', '/a?b c#', 'http://h:80/a?b c'],
  ['h', '/a#b c', 'http://h:80/a#b%20c'],
  ['h', 'a:b/c', 'http:b/c'],
  ['h', ':a', 'http://h:80/:a'],
  ['h', '/a\nb', 'http://h:80/a%0Ab'],
  ['h', '///x', 'http://h:80///x'],
  ['h', '//u:p%40@evil/x', 'http://u:p%40@h:80/x'],
  ['h', '//a:1:2/x', 'http://h:80/x'],
  ['h', 'http://a:1:2/x', 'http://h:80/http://a:1:2/x'],
  ['h', '//[::1/x', 'http://h:80//%5B::1/x'],
  ['', '/x', 'http://:80/x'],
  ['fe80::1%eth0', '/x', 'http://[fe80::1%25eth0]:80/x'],
  ['fe80::1%a b"', '/x', 'http://[fe80::1%25a%20b"]:80/x'],
];

describe('the URL is the one that Go builds', () => {
  for (const [host, path, url] of urls)
    test(`for ${JSON.stringify(path)} at ${JSON.stringify(host)}`, () =>
      assert.deepEqual(probeUrl({ scheme: 'http', host, port: 80, path }), { kind: 'url', url }));

  for (const [host, why] of [
    ['bad host', 'parse "http://bad%20host:80/x": invalid URL escape "%20"'],
    ['[::1]', 'parse "http://[[::1]]:80/x": invalid IP-literal'],
    [
      'localhost:8080',
      'parse "http://[localhost:8080]:80/x": invalid host: ParseAddr("localhost:8080"): each colon-separated field must have at least one digit (at "localhost:8080")',
    ],
  ] as const)
    test(`and refuses ${host} in its words`, () =>
      assert.deepEqual(probeUrl({ scheme: 'http', host, port: 80, path: '/x' }), { kind: 'error', error: why }));
});

describe('an IPv6 literal', () => {
  for (const good of ['::', '::1', '1::', '1:2:3:4:5:6:7:8', '::ffff:1.2.3.4', '1:2:3:4:5:6:1.2.3.4', 'fe80::1%en0'])
    test(`is ${good}`, () => assert.ok(isIpv6(good)));
  for (const bad of ['', ':', ':::', '1', '1.2.3.4', '1:2', '1::2::3', '12345::', '::1.2.3', '::01.2.3.4', '::1%'])
    test(`is not ${JSON.stringify(bad)}`, () => assert.notEqual(whyNotIpv6(bad), undefined));

  // netip.ParseAddr of Go 1.26; url.Parse refuses an IPv4 address in brackets.
  for (const [text, why] of [
    ['1.2.3.4', 'invalid IP-literal'],
    ['1.2.3', 'invalid host: ParseAddr("1.2.3"): IPv4 address too short'],
    ['1.2.3.4.5', 'invalid host: ParseAddr("1.2.3.4.5"): IPv4 address too long'],
    ['::1.2.3.4.5', 'invalid host: ParseAddr("::1.2.3.4.5"): IPv4 address too long'],
    ['1.2.3.256', 'invalid host: ParseAddr("1.2.3.256"): IPv4 field has value >255'],
    ['1.2..4', 'invalid host: ParseAddr("1.2..4"): IPv4 field must have at least one digit (at ".4")'],
    ['%eth0', 'invalid host: ParseAddr("%eth0"): missing IPv6 address'],
  ] as const)
    test(`is not ${text}, for the reason that Go gives`, () => assert.equal(whyNotIpv6(text), why));
});

describe('a handler', () => {
  const subject = {
    target: { namespace: 'shop', name: 'checkout', uid: 'u' },
    host: '10.0.0.7',
    container: { name: 'app', ports: [{ name: 'web', containerPort: 8080 }], env: [{ name: 'A', value: '$(B)' }] },
  };
  const errorOf = (handler: Omit<Handler, 'timeoutSeconds'>) => {
    const resolved = resolveProbeRequest({ ...handler, timeoutSeconds: 1 }, subject);
    return resolved.kind === 'error' ? resolved.error : undefined;
  };

  test('that is missing names the container', () =>
    assert.equal(errorOf({}), 'missing probe handler for checkout_shop(u):app'));
  test('with an unknown port name fails as Go’s Atoi does', () => {
    assert.equal(errorOf({ tcpSocket: { port: 'x"' } }), 'strconv.Atoi: parsing "x\\"": invalid syntax');
    const says = `strconv.Atoi: parsing "${'9'.repeat(20)}": value out of range`;
    assert.equal(errorOf({ tcpSocket: { port: '9'.repeat(20) } }), says);
    assert.equal(errorOf({ tcpSocket: { port: '+80' } }), undefined);
  });
  test('expands variables once, and leaves what it does not know', () => {
    const resolved = resolveProbeRequest({ exec: { command: ['$(A) $(X) $$(A) $( $'] }, timeoutSeconds: 1 }, subject);
    assert.ok(resolved.kind === 'request' && resolved.request.kind === 'exec');
    assert.deepEqual(resolved.request.command, ['$(B) $(X) $(A) $( $']);
  });

  const expanded = (word: string, env: readonly EnvVar[]): string => {
    const container = { ...subject.container, env };
    const resolved = resolveProbeRequest({ exec: { command: [word] }, timeoutSeconds: 1 }, { ...subject, container });
    if (resolved.kind === 'error' || resolved.request.kind !== 'exec') assert.fail('no command');
    return resolved.request.command[0] ?? '';
  };

  test('takes the last of several variables of one name, and any name of printable ASCII', () => {
    const env = [
      { name: 'A', value: 'first' },
      { name: '1 {a}/$b?', value: 'odd' },
      { name: 'A', value: 'last' },
    ];
    assert.equal(expanded('$(A) $(1 {a}/$b?) $$(A) $$$(A)', env), 'last odd $(A) $last');
  });

  test('takes time in proportion to a word, also where nothing closes', () => {
    const before = process.cpuUsage();
    const word = '$('.repeat(500_000);
    assert.equal(expanded(word, []), word);
    const { user } = process.cpuUsage(before);
    assert.ok(user < 2_000_000, `${user} µs`);
  });
});
