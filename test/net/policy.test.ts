import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
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
  0.0.0.0                                - - -
  0.1.2.3                                - - -
  ::                                     - - -
  169.254.169.254                        - - -
  169.254.170.2                          - - -
  169.254.0.1                            - - -
  fe80::1                                - - -
  fe80::1%eth0                           - - -
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
  localhost                              - - -
  999.1.1.1                              - - -
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
      assert.deepEqual(
        policies.map((policy) => (policy(address) ? '+' : '-')),
        expected,
        'a remembered verdict',
      );
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

  test('a malformed range is refused when the policy is made', () => {
    assert.throws(() => dialPolicy({ mode: 'aws', allowCidrs: ['10.0.0.0'] }), RangeError);
  });
});
