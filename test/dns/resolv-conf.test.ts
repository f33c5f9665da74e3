/** `/etc/resolv.conf` as Go reads it; the first cases are those of Go's own test (net, dnsconfig_unix_test.go). */
import assert from 'node:assert/strict';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { parsedResolvConf, resolvConf } from '../../shared/dns/resolv-conf.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { virtualClock } from '../support/virtual-clock.ts';

const ownAddresses = ['127.0.0.1', '::1'];

describe('the servers of resolv.conf', () => {
  const rows: readonly (readonly [what: string, text: string, addresses: readonly string[]])[] = [
    [
      'with domain and comments',
      '# /etc/resolv.conf\n\ndomain localdomain\nnameserver 8.8.8.8\nnameserver 2001:4860:4860::8888\nnameserver fe80::1%lo0\noptions ndots:5 timeout:10 attempts:3 rotate\noptions attempts 3\n',
      ['8.8.8.8', '2001:4860:4860::8888', 'fe80::1%lo0'],
    ],
    ['with search', 'search test invalid\ndomain localdomain\nnameserver 8.8.8.8\n', ['8.8.8.8']],
    ['of an empty file', '', ownAddresses],
    ['without a server', 'search test\n', ownAddresses],
    ['separated by tabs, CR and blanks', '\tnameserver \t 10.0.0.1 \r\n', ['10.0.0.1']],
    [
      'beyond the third',
      [1, 2, 3, 4].map((at) => `nameserver 10.0.0.${at}\n`).join(''),
      ['10.0.0.1', '10.0.0.2', '10.0.0.3'],
    ],
    [
      'that are no addresses',
      'nameserver\nnameserver dns.test\nnameserver 010.0.0.1\nnameserver [::1]\nnameserver 10.0.0.1:53\n',
      ownAddresses,
    ],
    ['in comments', ';nameserver 10.0.0.1\n#nameserver 10.0.0.2\n', ownAddresses],
    ['behind a comment sign in the line', 'nameserver 10.0.0.1 # mine\n', ['10.0.0.1']],
    ['in other letters', 'Nameserver 10.0.0.1\n', ownAddresses],
  ];
  for (const [what, text, addresses] of rows)
    test(what, () => {
      const servers = addresses.map((address) => ({ address, port: 53 }));
      assert.deepEqual(parsedResolvConf(text).servers, servers);
    });
});

test('the options of resolv.conf', () => {
  const options = (text: string) => {
    const { attempts, rotate, tcpOnly } = parsedResolvConf(`options ${text}\n`);
    return { attempts, rotate, tcpOnly };
  };
  const usual = { attempts: 2, rotate: false, tcpOnly: false };
  assert.deepEqual(options(''), usual);
  assert.deepEqual(options('ndots:5 timeout:10 edns0 trust-ad single-request no-reload whatever'), usual);
  assert.deepEqual(options('attempts:3 rotate'), { ...usual, attempts: 3, rotate: true });
  for (const text of ['use-vc', 'usevc', 'tcp']) assert.deepEqual(options(text), { ...usual, tcpOnly: true });
  for (const [text, attempts] of [
    ['0', 1],
    ['-2', 1],
    ['x', 1],
    ['', 1],
    ['3x', 3],
    ['1000000', 5],
  ] as const)
    assert.equal(options(`attempts:${text}`).attempts, attempts, text);
  assert.equal(options('attempts:3 attempts:4').attempts, 4);
});

test('a changed resolv.conf is noticed within 5 s, and one that is gone names this machine', async (t) => {
  const path = join(temporaryFolder(t), 'resolv.conf');
  const clock = virtualClock();
  const config = resolvConf(path, clock);
  const addresses = () => config().servers.map(({ address }) => address);
  assert.deepEqual(addresses(), ownAddresses);
  writeFileSync(path, 'nameserver 10.0.0.1\n');
  assert.deepEqual(addresses(), ownAddresses);
  await clock.advance(5000);
  assert.deepEqual(addresses(), ['10.0.0.1']);
  writeFileSync(path, `nameserver 10.0.0.2\n${'#'.repeat(70_000)}`);
  await clock.advance(5000);
  assert.deepEqual(addresses(), ownAddresses, 'a file of more than 64 KiB is taken for none');
  rmSync(path);
  await clock.advance(5000);
  assert.deepEqual(addresses(), ownAddresses);
});
