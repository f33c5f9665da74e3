import { deepEqual, equal } from 'node:assert/strict';
import { describe, test } from 'node:test';
import { encodeHeaders, HpackDecoder } from '../../shared/http2/hpack.ts';

const stringBytesMax = 1024 * 1024;

/** Blocks decoded one after the other by one decoder, in pieces of so many bytes. */
function decoded(blocks: readonly string[], pieceBytes: number): readonly (readonly string[])[] {
  let fields: string[] = [];
  const decoder = new HpackDecoder({
    onField: ({ name, value }) => fields.push(`${name}: ${value}`),
    isWanted: () => true,
    stringBytesMax,
    reserve: () => true,
  });
  return blocks.map((hex) => {
    fields = [];
    const bytes = Buffer.from(hex, 'hex');
    for (let at = 0; at < bytes.length; at += pieceBytes)
      equal(decoder.take(bytes.subarray(at, at + pieceBytes)), undefined);
    equal(decoder.endBlock(), undefined);
    return fields;
  });
}

const requests = [
  [':method: GET', ':scheme: http', ':path: /', ':authority: www.example.com'],
  [':method: GET', ':scheme: http', ':path: /', ':authority: www.example.com', 'cache-control: no-cache'],
  [':method: GET', ':scheme: https', ':path: /index.html', ':authority: www.example.com', 'custom-key: custom-value'],
];
const at21 = 'date: Mon, 21 Oct 2013 20:13:21 GMT';
const at22 = 'date: Mon, 21 Oct 2013 20:13:22 GMT';
const location = 'location: https://www.example.com';
const responses = [
  [':status: 302', 'cache-control: private', at21, location],
  [':status: 307', 'cache-control: private', at21, location],
  [
    ...[':status: 200', 'cache-control: private', at22, location, 'content-encoding: gzip'],
    'set-cookie: foo=ASDJKHQKBZXOQWEOPIUAXQWEOIU; max-age=3600; version=1',
  ],
];
/** The examples' table has 256 bytes; here a size update says so. */
const table256 = '3fe101';

/** RFC 7541, appendix C. */
const examples = [
  {
    name: 'C.2.1 to C.2.4 literals and indices',
    blocks: [
      '400a637573746f6d2d6b65790d637573746f6d2d686561646572',
      '040c2f73616d706c652f70617468',
      '100870617373776f726406736563726574',
      '82',
    ],
    fields: [['custom-key: custom-header'], [':path: /sample/path'], ['password: secret'], [':method: GET']],
  },
  {
    name: 'C.3 requests without Huffman coding',
    blocks: [
      '828684410f7777772e6578616d706c652e636f6d',
      '828684be58086e6f2d6361636865',
      '828785bf400a637573746f6d2d6b65790c637573746f6d2d76616c7565',
    ],
    fields: requests,
  },
  {
    name: 'C.4 requests with Huffman coding',
    blocks: [
      '828684418cf1e3c2e5f23a6ba0ab90f4ff',
      '828684be5886a8eb10649cbf',
      '828785bf408825a849e95ba97d7f8925a849e95bb8e8b4bf',
    ],
    fields: requests,
  },
  {
    name: 'C.5 responses without Huffman coding, with evictions',
    blocks: [
      `${table256}4803333032580770726976617465611d4d6f6e2c203231204f637420323031332032303a31333a323120474d546e1768747470733a2f2f7777772e6578616d706c652e636f6d`,
      '4803333037c1c0bf',
      '88c1611d4d6f6e2c203231204f637420323031332032303a31333a323220474d54c05a04677a69707738666f6f3d4153444a4b48514b425a584f5157454f50495541585157454f49553b206d61782d6167653d333630303b2076657273696f6e3d31',
    ],
    fields: responses,
  },
  {
    name: 'C.6 responses with Huffman coding, with evictions',
    blocks: [
      `${table256}488264025885aec3771a4b6196d07abe941054d444a8200595040b8166e082a62d1bff6e919d29ad171863c78f0b97c8e9ae82ae43d3`,
      '4883640effc1c0bf',
      '88c16196d07abe941054d444a8200595040b8166e084a62d1bffc05a839bd9ab77ad94e7821dd7f2e6c7b335dfdfcd5b3960d5af27087f3672c1ab270fb5291f9587316065c003ed4ee5b1063d5007',
    ],
    fields: responses,
  },
];

describe('HPACK, by the examples of RFC 7541', () => {
  for (const { name, blocks, fields } of examples)
    for (const pieceBytes of [1, 7, 1000])
      test(`${name}, in pieces of ${pieceBytes} bytes`, () => deepEqual(decoded(blocks, pieceBytes), fields));
});

describe('HPACK coding and decoding', () => {
  test('what the encoder writes is what the decoder reads', () => {
    const long = 'x'.repeat(300);
    const fields = [
      [':method', 'POST'],
      [':path', '/grpc.health.v1.Health/Check'],
      ['te', 'trailers'],
      ['x-long', long],
      ['x-empty', ''],
    ] as const;
    const expected = fields.map(([name, value]) => `${name}: ${value}`);
    deepEqual(decoded([encodeHeaders(fields).toString('hex'), encodeHeaders(fields, 0).toString('hex')], 5), [
      expected,
      expected,
    ]);
  });
});
