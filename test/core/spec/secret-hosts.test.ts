import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { maySend, secretHost } from '../../../shared/core/spec/secret-hosts.ts';

const reference = { source: 'env', name: 'TOKEN' } as const;

const words = (text: string): readonly string[] => text.split(' ');

const isSent = (given: string, host: string, port: number): boolean => {
  const parsed = secretHost(given);
  assert.ok(parsed, `${given} is a host`);
  return maySend(new Map([['env:TOKEN', [parsed]]]), reference, { host, port });
};

describe('a secret for', () => {
  const table: readonly (readonly [given: string, goesTo: readonly string[], notTo: readonly string[]])[] = [
    [
      'shop.test',
      ['shop.test 80', 'SHOP.test 443'],
      ['a.shop.test 80', 'test 80', 'shop.test.evil 80', 'xshop.test 80'],
    ],
    ['Shop.Test:8443', ['shop.test 8443'], ['shop.test 443', 'shop.test 84430']],
    ['*.shop.test', ['a.shop.test 80', 'a.b.shop.test 443'], ['shop.test 80', 'xshop.test 80', 'a.shop.test.evil 80']],
    ['*.shop.test:443', ['a.shop.test 443'], ['a.shop.test 80']],
    ['xn--bcher-kva.test', ['xn--bcher-kva.test 80'], ['bücher.test 80']],
    ['shop', ['shop 80'], ['shop. 80', 'shop.test 80']],
    ['127.0.0.1', ['127.0.0.1 80'], ['127.0.0.2 80', '127.1 80', '2130706433 80', '::ffff:127.0.0.1 80']],
    ['127.0.0.1:80', ['127.0.0.1 80'], ['127.0.0.1 81']],
    ['::1', ['::1 80', '0:0::1 443', '0000:0000:0000:0000:0000:0000:0000:0001 1'], ['::2 80', '::1%lo 80']],
    ['[2001:DB8::0:1]', ['2001:db8::1 80'], ['2001:db8::2 80']],
    ['[2001:db8::1]:443', ['2001:db8:0::1 443'], ['2001:db8::1 80']],
    ['::ffff:10.0.0.1', ['::ffff:a00:1 80'], ['10.0.0.1 80']],
    ['constructor', ['constructor 80'], ['__proto__ 80']],
  ];
  for (const [given, goesTo, notTo] of table)
    test(given, () => {
      const asked = (where: string) => {
        const [host = '', port] = where.split(' ');
        return isSent(given, host, Number(port));
      };
      const unasked = goesTo.filter((where) => !asked(where));
      assert.deepEqual(unasked, []);
      assert.deepEqual(notTo.filter(asked), []);
    });

  test('another reference stays', () => {
    const hosts = new Map([['env:TOKEN', [{ host: 'shop.test', isBelow: false }]]]);
    const to = { host: 'shop.test', port: 80 };
    assert.equal(maySend(hosts, reference, to), true);
    for (const other of [{ source: 'ssm', name: 'TOKEN' } as const, { source: 'env', name: 'constructor' } as const])
      assert.equal(maySend(hosts, other, to), false);
  });

  test('several hosts goes to each', () => {
    const hosts = ['a.test', 'b.test:1'].flatMap((text) => secretHost(text) ?? []);
    const sent = ['a.test', 'b.test', 'c.test'].map((host) =>
      maySend(new Map([['env:TOKEN', hosts]]), reference, { host, port: 1 }),
    );
    assert.deepEqual(sent, [true, true, false]);
  });
});

describe('no host is', () => {
  const slips = [
    ...['', ' ', 'a b', 'shop.test\n', 'a'.repeat(254)],
    ...words(':80 * *. *:80 a.*.test **.test *.10.0.0.1 http://shop.test shop.test/x u@shop.test a,b a..b bücher.test'),
    ...words('shop.test: shop.test:0 shop.test:65536 shop.test:080000 shop.test:http'),
    ...words('127.1 2130706433 10.0.0.0/8 010.0.0.1 [10.0.0.1] [shop.test] [::1 ::1] [::1]x fe80::1%lo [::1]:0'),
  ];
  for (const slip of slips) test(JSON.stringify(slip.slice(0, 40)), () => assert.equal(secretHost(slip), undefined));
});
