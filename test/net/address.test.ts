import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { addressLiteral } from '../../shared/net/address.ts';

const spellings: Readonly<Record<string, string | undefined>> = {
  '127.0.0.1': '127.0.0.1',
  '2130706433': '127.0.0.1',
  '0x7f000001': '127.0.0.1',
  '0X7F.1': '127.0.0.1',
  '017700000001': '127.0.0.1',
  '0177.0.0.1': '127.0.0.1',
  '127.1': '127.0.0.1',
  '127.0.1': '127.0.0.1',
  '127.65535': '127.0.255.255',
  '0': '0.0.0.0',
  '0xa9fea9fe': '169.254.169.254',
  '::1': '::1',
  '::ffff:127.0.0.1': '::ffff:127.0.0.1',
  'fe80::1%eth0': 'fe80::1%eth0',
  '256.0.0.1': undefined,
  '127.0.0.256': undefined,
  '127.16777216': undefined,
  '4294967296': undefined,
  '08.0.0.1': undefined,
  '1.2.3.4.5': undefined,
  '127.': undefined,
  '.127': undefined,
  '127..1': undefined,
  '0x': undefined,
  '1e3': undefined,
  'x127.0.0.1': undefined,
  '7.example': undefined,
  localhost: undefined,
  '': undefined,
};

describe('an address literal', () => {
  for (const [spelling, address] of Object.entries(spellings)) {
    test(`${JSON.stringify(spelling)} is ${address ?? 'a name'}`, () => {
      assert.equal(addressLiteral(spelling), address);
    });
  }
});
