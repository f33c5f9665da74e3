import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  codeName,
  decodeGrpcMessage,
  encodeCheckRequest,
  encodeTimeout,
  servingStatusName,
} from '../../../shared/prober/grpc/codec.ts';

describe('the request', () => {
  test('of the whole server is an empty message', () =>
    assert.deepEqual(encodeCheckRequest(''), Buffer.from([0, 0, 0, 0, 0])));
  test('of a service carries its name', () =>
    assert.deepEqual(encodeCheckRequest('a.B'), Buffer.from([0, 0, 0, 0, 5, 0x0a, 3, 0x61, 0x2e, 0x42])));
  test('of a long name counts bytes, not characters', () => {
    const request = encodeCheckRequest('ü'.repeat(100));
    assert.deepEqual(request.subarray(0, 8), Buffer.from([0, 0, 0, 0, 203, 0x0a, 0xc8, 0x01]));
    assert.equal(request.length, 208);
  });
});

test('a status outside of the enum is named by its number', () =>
  assert.deepEqual([1, 3, 17, -5].map(servingStatusName), ['SERVING', 'SERVICE_UNKNOWN', '17', '-5']));

test('a code outside of the list is named by its number', () =>
  assert.deepEqual([1, 16, 17].map(codeName), ['Canceled', 'Unauthenticated', 'Code(17)']));

test('a time-out has at most eight digits and is rounded up', () =>
  assert.deepEqual([0.0001, 999.5, 60_000, 100_000.5].map(encodeTimeout), ['1u', '999500u', '60000000u', '100001m']));

test('a message is percent-decoded as UTF-8, and a lone percent sign stays', () =>
  assert.equal(decodeGrpcMessage('100%25 of Z%C3%BCrich, 5% %zz %4'), '100% of Zürich, 5% %zz %4'));
