/**
 * What protobuf-go makes of the same bytes was asked of it: google.golang.org/protobuf v1.36, a HealthCheckResponse.
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { field1 } from '../../../shared/prober/grpc/codec.ts';

const full = [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff];
const nested = (depth: number): readonly number[] => [
  ...Array.from({ length: depth }, () => 0x13),
  ...Array.from({ length: depth }, () => 0x14),
];

describe('the number of field 1', () => {
  const table: readonly (readonly [what: string, bytes: readonly number[], value: number | undefined])[] = [
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
    ['a tenth byte beyond 64 bits is malformed', [0x08, ...full, 2], undefined],
    ['all of 64 bits is minus one', [0x08, ...full, 1], -1],
    ['a tag in more bytes than it takes', [0x88, 0x80, 0x00, 1], 1],
    ['the largest field number', [0xf8, 0xff, 0xff, 0xff, 0x0f, 1], 0],
    ['a larger field number is malformed', [0x80, 0x80, 0x80, 0x80, 0x10, 1], undefined],
    ['a length beyond 32 bits is malformed', [0x12, 0x80, 0x80, 0x80, 0x80, 0x10], undefined],
    ['a group is skipped', [0x13, 0x08, 5, 0x14, 0x08, 1], 1],
    ['a group in a group', [0x13, 0x1b, 0x25, 1, 2, 3, 4, 0x1c, 0x14, 0x08, 1], 1],
    ['a group as the field itself', [0x0b, 0x0c, 0x08, 1], 1],
    ['in a group a larger field number', [0x13, 0x80, 0x80, 0x80, 0x80, 0x10, 1, 0x14, 0x08, 1], 1],
    ['a group that another number ends is malformed', [0x13, 0x1c], undefined],
    ['a group that does not end is malformed', [0x13, 0x08, 5], undefined],
    ['an end without a group is malformed', [0x14], undefined],
    ['10,001 groups deep', [...nested(10_001), 0x08, 1], 1],
    ['10,002 groups deep is malformed', [...nested(10_002), 0x08, 1], undefined],
    ['wire type 6 is malformed', [0x16, 1], undefined],
  ];
  for (const [what, bytes, value] of table) test(what, () => assert.equal(field1(Uint8Array.from(bytes)), value));
});

describe('of a message whose first bytes alone are kept', () => {
  const start = Uint8Array.of(0x08, 1, 0x12, 100, 0);
  const table: readonly (readonly [what: string, lengthBytes: number, value: number | undefined])[] = [
    ['the end of a field may be left out', 104, 1],
    ['a field that ends too late is malformed', 103, undefined],
    ['what follows the field would have to be read', 105, undefined],
  ];
  for (const [what, lengthBytes, value] of table) test(what, () => assert.equal(field1(start, lengthBytes), value));
});
