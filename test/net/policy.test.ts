import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { readCidr } from '../../shared/net/cidr.ts';
import { dialPolicy } from '../../shared/net/policy.ts';

/** address | aws | aws with the private ranges allowed | local: `+` may be dialed. */
const table = `
  93.184.215.14                          + + +
  2606:4700::6810:84e5                   + + +
  10.0.3.7                               - + +
  172.31.255.1                           - + +
  192.168.1.1                            - + +
  fd12:3456::1                           - + +
  100.64.0.1                             - + +
  127.0.0.1                              - - +
  127.255.255.254                        - - +
  ::1                                    - - +
  ::1%lo                                 - - +
  ::1%a-b.c                              - - +
  2606:4700::6810:84e5%eth0              + + +
  fd12:3456::1%br-0a1b                   - + +
  10.0.3.7%eth0                          - - -
  0.0.0.0                                - - -
  0.1.2.3                                - - -
  ::                                     - - -
  169.254.169.254                        - - -
  169.254.170.2                          - - -
  169.254.0.1                            - - -
  fe80::1                                - - -
  fe80::1%eth0                           - - -
  fe80::1%br-0a1b                        - - -
  fe80::1%1                              - - -
  fd00:ec2::254%eth0                     - - -
  ::%eth0                                - - -
  ::ffff:169.254.169.254%eth0            - - -
  ::ffff:10.0.3.7%eth0                   - + +
  64:ff9b::a9fe:a9fe%eth0                - - -
  100.100.100.200                        - - -
  100.100.100.199                        - + +
  100.100.100.201                        - + +
  ::ffff:100.100.100.200                 - - -
  ::ffff:6464:64c8                       - - -
  64:ff9b::6464:64c8                     - - -
  64:ff9b::100.100.100.200               - - -
  192.0.0.192                            - - -
  192.0.0.191                            - - +
  192.0.0.193                            - - +
  ::ffff:192.0.0.192                     - - -
  64:ff9b::c000:c0                       - - -
  168.63.129.16                          - - -
  168.63.129.15                          + + +
  168.63.129.17                          + + +
  ::ffff:168.63.129.16                   - - -
  ::ffff:168.63.129.16%eth0              - - -
  64:ff9b::a83f:8110                     - - -
  fd20:ce::254                           - - -
  fd20:ce:0:0:0:0:0:254                  - - -
  fd20:00ce::0254%eth0                   - - -
  fd20:ce::253                           - + +
  fd20:ce::255                           - + +
  fd00:c1::a9fe:a9fe                     - - -
  fd00:c1::169.254.169.254               - - -
  fd00:c1::a9fe:a9ff                     - + +
  fd00:42::42                            - - -
  fd00:42::43                            - + +
  febf::1                                - - -
  fec0::1                                - - -
  fd00:ec2::254                          - - -
  fd00:ec2::253                          - - -
  255.255.255.255                        - - -
  224.0.0.1                              - - -
  ff02::1                                - - -
  192.0.2.1                              - - +
  198.18.0.1                             - - +
  2001:db8::1                            - - +
  ::ffff:93.184.215.14                   + + +
  ::ffff:10.0.3.7                        - + +
  ::ffff:127.0.0.1                       - - +
  ::ffff:7f00:1                          - - +
  ::ffff:169.254.169.254                 - - -
  ::ffff:a9fe:a9fe                       - - -
  ::ffff:0.0.0.0                         - - -
  64:ff9b::5db8:d70e                     + + +
  64:ff9b::a00:307                       - + +
  64:ff9b::7f00:1                        - - +
  64:ff9b::a9fe:a9fe                     - - -
  64:ff9b:1::5db8:d70e                   - - -
  64:ff9b:1::a9fe:a9fe                   - - -
  64:ff9b:1:a9fe:a9:fe00::               - - -
  2002:7f00:1::                          - - -
  2002:a9fe:a9fe::1                      - - -
  2002:5db8:d70e::1                      - - -
  2001:0:4136:e378:8000:63bf:3fff:fdd2   - - -
  2001:0:a9fe:a9fe::1                    - - -
  ::7f00:1                               - - -
  ::a9fe:a9fe                            - - -
  ::ffff:0:7f00:1                        - - -
  ::8.8.8.8                              - - -
  ::808:808                              - - -
  ::8.8.8.8%eth0                         - - -
  ::10.0.3.7                             - - -
  ::127.0.0.1                            - - -
  ::127.0.0.1%lo                         - - -
  ::168.63.129.16                        - - -
  0::8.8.8.8                             - - -
  0:0:0:0:0:0:8.8.8.8                    - - -
  ::0:8.8.8.8                            - - -
  ::93.184.215.14                        - - -
  ::0.0.0.1                              - - +
  ::0.0.0.0                              - - -
  ::0.0.0.2                              - - -
  ::ffff:0:127.0.0.1                     - - -
  ::ffff:0:93.184.215.14                 - - -
  2606:4700::93.184.215.14               + + +
  fe80::93.184.215.14                    - - -
  2002::127.0.0.1                        - - -
  64:ff9b:1::93.184.215.14               - - -
  64:ff9b::93.184.215.14                 + + +
  localhost                              - - -
  999.1.1.1                              - - -
  127.1                                  - - -
  2130706433                             - - -
  0x7f.0.0.1                             - - -
  0x5d.184.215.14                        - - -
  010.0.3.7                              - - -
  0135.184.215.14                        - - -
  ::ffff:0x7f.0.0.1                      - - -
  ::ffff:093.184.215.14                  - - -
  ::ffff:10.0.3                          - - -
  [::1]                                  - - -
`;

const allowCidrs = ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', '100.64.0.0/10', 'fc00::/7'];
const everything = ['0.0.0.0/0', '::/0'];

describe('the dial policy', () => {
  const policies = [
    dialPolicy({ mode: 'aws' }),
    dialPolicy({ mode: 'aws', allowCidrs }),
    dialPolicy({ mode: 'local' }),
  ];
  for (const line of table.trim().split('\n')) {
    const [address = '', ...expected] = line.trim().split(/\s+/);
    test(`${address}: ${expected.join(' ')}`, () => {
      const verdicts = policies.map((policy) => (policy(address) ? '+' : '-'));
      assert.deepEqual(verdicts, expected);
      const remembered = policies.map((policy) => (policy(address) ? '+' : '-'));
      assert.deepEqual(remembered, expected, 'a remembered verdict');
    });
  }

  test('no list opens what is never dialed', () => {
    const policy = dialPolicy({ mode: 'aws', allowCidrs: everything });
    const never = [
      '127.0.0.1',
      '::1',
      '169.254.169.254',
      'fe80::1',
      'fd00:ec2::254',
      '0.0.0.0',
      '::',
      '::ffff:127.0.0.1',
      ...['100.100.100.200', '192.0.0.192', '168.63.129.16', '::ffff:168.63.129.16', '64:ff9b::a83f:8110'],
      ...['fd20:ce::254', 'fd20:ce::254%eth0', 'fd00:c1::a9fe:a9fe', 'fd00:42::42'],
      ...['::8.8.8.8', '::8.8.8.8%eth0', '::127.0.0.1', '::10.0.3.7'],
    ];
    assert.deepEqual(never.filter(policy), []);
    assert.ok(policy('198.18.0.1'));
  });

  test('loopback can be closed on one machine', () => {
    const policy = dialPolicy({ mode: 'local', allowLoopback: false });
    assert.deepEqual(['127.0.0.1', '::1', '::ffff:127.0.0.1', '10.0.0.1'].filter(policy), ['10.0.0.1']);
  });

  test('loopback can be opened on an emulator of AWS, and nothing else with it', () => {
    const policy = dialPolicy({ mode: 'aws', allowLoopback: true });
    const addresses = ['127.0.0.1', '::1', '::ffff:127.0.0.1', '10.0.0.1', '169.254.169.254', '0.0.0.0'];
    assert.deepEqual(addresses.filter(policy), ['127.0.0.1', '::1', '::ffff:127.0.0.1']);
  });

  test('a wrong range is refused when the policy is made, with what was meant', () => {
    assert.throws(() => dialPolicy({ mode: 'aws', allowCidrs: ['fc00::/7', '10/8'] }), {
      name: 'RangeError',
      message: '10/8 is no range (did you mean 10.0.0.0/8?)',
    });
  });
});

/** What is written | what was meant: `=` is right as it is, `?` is wrong beyond guessing. */
const ranges = `
  10.0.0.0/8                =
  0.0.0.0/0                 =
  192.168.7.1/32            =
  172.16.0.0/12             =
  fc00::/7                  =
  FD00::/8                  =
  ::/0                      =
  2606:4700::6810:84e5/128  =
  fd00:0:0::/8              =
  fd00::10.0.0.0/104        =
  10/8                      10.0.0.0/8
  10./8                     ?
  10.0/16                   10.0.0.0/16
  172.16/12                 172.16.0.0/12
  192.168.7/24              192.168.7.0/24
  10.1/8                    10.0.0.0/8
  167772160/8               ?
  300/8                     ?
  0x0a.0.0.0/8              ?
  10.1.2.3/8                10.0.0.0/8
  10.0.0.1/31               10.0.0.0/31
  192.168.255.255/16        192.168.0.0/16
  172.31.0.0/12             172.16.0.0/12
  1.0.0.0/0                 0.0.0.0/0
  fd00::1/8                 fd00::/8
  fd12:3456::1/33           fd12:3456::/33
  2606:4700:ffff::/33       2606:4700:8000::/33
  fe80::1/10                fe80::/10
  010.0.0.0/8               10.0.0.0/8
  10.000.0.0/8              10.0.0.0/8
  010.001.002.003/8         10.0.0.0/8
  010/8                     10.0.0.0/8
  099.0.0.0/8               99.0.0.0/8
  10.0.0.0/08               10.0.0.0/8
  fd00::/08                 fd00::/8
  ::ffff:10.0.0.0/104       10.0.0.0/8
  ::ffff:a00:0/104          10.0.0.0/8
  ::ffff:10.1.2.3/104       10.0.0.0/8
  ::ffff:0:0/96             0.0.0.0/0
  ::ffff:10.0.0.7/128       10.0.0.7/32
  ::ffff:10.0.0.0/8         ?
  ::10.0.0.0/104            10.0.0.0/8
  ::a00:0/104               10.0.0.0/8
  64:ff9b::a00:0/104        10.0.0.0/8
  64:ff9b::10.0.0.0/104     10.0.0.0/8
  64:ff9b::/96              0.0.0.0/0
  10.0.0.0                  10.0.0.0/32
  10                        ?
  10.1                      ?
  010.0.0.1                 10.0.0.1/32
  fd00::1                   fd00::1/128
  ::ffff:10.0.0.7           10.0.0.7/32
  fd00::%eth0/8             fd00::/8
  fd00::1%eth0              fd00::1/128
  10.0.0.0/33               ?
  10.0.0.0/-1               ?
  10.0.0.0/                 ?
  10.0.0.0/8/8              ?
  10.0.0.0/255.0.0.0        10.0.0.0/8
  10.0.0.0/255.0.255.0      ?
  10.0.0.0/8.5              ?
  10.0.0.0/+8               ?
  10.0.0.0/0x8              ?
  fd00::/129                ?
  fd00::/ffff::             ?
  [fd00::]/8                fd00::/8
  /8                        ?
  private                   ?
  10.0.0.0-10.0.0.9         ?
  10.*                      ?
`;

describe('a range of allowCidrs', () => {
  for (const line of ranges.trim().split('\n')) {
    const [text = '', meant = ''] = line.trim().split(/\s+/);
    test(`${text}: ${meant}`, () => {
      const read = readCidr(text);
      const said = read.kind === 'range' ? '=' : (read.meant ?? '?');
      assert.equal(said, meant);
    });
  }

  test('with a blank at either end, or empty', () => {
    for (const text of [' 10.0.0.0/8', '10.0.0.0/8 ', '10.0.0.0 /8', '\t10.0.0.0/8\n'])
      assert.deepEqual(readCidr(text), { kind: 'wrong', meant: '10.0.0.0/8' }, JSON.stringify(text));
    assert.deepEqual(readCidr(''), { kind: 'wrong' });
  });

  test('opens what it was meant to, once it is written so', () => {
    const opened = (range: string) =>
      ['10.0.3.7', '11.0.0.1', '::ffff:10.0.3.7', '64:ff9b::a00:307'].filter(
        dialPolicy({ mode: 'aws', allowCidrs: [range] }),
      );
    assert.deepEqual(opened('10.0.0.0/8'), ['10.0.3.7', '11.0.0.1', '::ffff:10.0.3.7', '64:ff9b::a00:307']);
    assert.deepEqual(opened('fd00::/8'), ['11.0.0.1']);
  });
});
