import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  codeName,
  decodeCheckResponse,
  decodeGrpcMessage,
  encodeCheckRequest,
  encodeTimeout,
  servingStatusName,
} from '../../shared/prober/grpc-codec.ts';

describe('the request', () => {
  test('of the whole server is an empty message', () => {
    assert.deepEqual(encodeCheckRequest(''), Buffer.from([0, 0, 0, 0, 0]));
  });
  test('of a service carries its name', () => {
    assert.deepEqual(encodeCheckRequest('a.B'), Buffer.from([0, 0, 0, 0, 5, 0x0a, 3, 0x61, 0x2e, 0x42]));
  });
  test('of a long name counts bytes, not characters', () => {
    const request = encodeCheckRequest('ü'.repeat(100));
    assert.deepEqual(request.subarray(0, 8), Buffer.from([0, 0, 0, 0, 203, 0x0a, 0xc8, 0x01]));
    assert.equal(request.length, 208);
  });
});

describe('the response', () => {
  const table: readonly (readonly [what: string, bytes: readonly number[], status: number | undefined])[] = [
    ['empty is UNKNOWN', [], 0],
    ['SERVING', [0x08, 1], 1],
    ['the last status wins', [0x08, 1, 0x08, 2], 2],
    ['a negative enum takes ten bytes', [0x08, 0xfb, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01], -5],
    [
      'unknown fields are skipped',
      [0x12, 2, 9, 9, 0x18, 7, 0x25, 1, 2, 3, 4, 0x29, 1, 2, 3, 4, 5, 6, 7, 8, 0x08, 1],
      1,
    ],
    ['a cut varint is malformed', [0x08, 0x80], undefined],
    ['a status of another wire type is not the status', [0x0a, 1, 1], 0],
    ['a field longer than the message is malformed', [0x12, 9, 1], undefined],
    ['a cut fixed field is malformed', [0x25, 1, 2], undefined],
    ['field number zero is malformed', [0x00, 1], undefined],
    ['a varint without end is malformed', Array.from({ length: 11 }, () => 0xff), undefined],
  ];
  for (const [what, bytes, status] of table) {
    test(what, () => assert.equal(decodeCheckResponse(Uint8Array.from(bytes)), status));
  }
});

test('a status outside of the enum is named by its number', () => {
  assert.deepEqual([1, 3, 17, -5].map(servingStatusName), ['SERVING', 'SERVICE_UNKNOWN', '17', '-5']);
});

test('a code outside of the list is named by its number', () => {
  assert.deepEqual([1, 16, 17].map(codeName), ['Canceled', 'Unauthenticated', 'Code(17)']);
});

test('a time-out has at most eight digits and is rounded up', () => {
  assert.deepEqual([0.0001, 999.5, 60_000, 100_000.5].map(encodeTimeout), ['1u', '999500u', '60000000u', '100001m']);
});

test('a message is percent-decoded as UTF-8, and a lone percent sign stays', () => {
  assert.equal(decodeGrpcMessage('100%25 of Z%C3%BCrich, 5% %zz %4'), '100% of Zürich, 5% %zz %4');
});
