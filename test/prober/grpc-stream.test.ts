import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Block } from '../../shared/http2/header-block.ts';
import { knownField } from '../../shared/http2/hpack-table.ts';
import type { RpcResult } from '../../shared/prober/grpc-reply.ts';
import { lostStatus, resetStatus, rpcCode } from '../../shared/prober/grpc-status.ts';
import { callStream } from '../../shared/prober/grpc-stream.ts';

type Fields = Readonly<Record<string, string | number>>;
type End =
  | { readonly kind: 'trailers'; readonly headers: Fields }
  | { readonly kind: 'noTrailers' }
  | { readonly kind: 'lost' }
  | { readonly kind: 'reset'; readonly rstCode: number };
/** What the server sends of a stream. `end`: absent while the stream goes on. */
type Reply = { readonly headers: Fields | undefined; readonly body: Uint8Array; readonly end?: End };

const grpc = { ':status': 200, 'content-type': 'application/grpc' };
const serving = Buffer.from([0, 0, 0, 0, 2, 0x08, 1]);
const none = Buffer.alloc(0);
const trailers = (fields: Record<string, string>): End => ({ kind: 'trailers', headers: fields });
const ok = trailers({ 'grpc-status': '0' });
const status = (code: number, message: string): RpcResult => ({ kind: 'status', code, message });

type Row = readonly [what: string, reply: Reply, result: RpcResult | undefined];

function pin(rows: readonly Row[]): void {
  for (const [what, reply, result] of rows) test(what, () => assert.deepEqual(resultOf(reply), result));
}

function resultOf({ headers, body, end }: Reply): RpcResult | undefined {
  const stream = callStream();
  const block = (fields: Fields, endStream: boolean): RpcResult | undefined => {
    const pairs = Object.entries(fields).map(([name, value]) => [name, String(value)] as const);
    for (const [name, value] of pairs) if (!name.startsWith(':')) stream.field(knownField(name, value));
    return stream.headers({ ...anyBlock, endStream, pseudo: new Map(pairs.filter(([name]) => name.startsWith(':'))) });
  };
  const first = headers && block(headers, false);
  if (first) return first;
  const second = stream.data({ data: body, payloadBytes: body.length, endStream: end?.kind === 'noTrailers' });
  if (second || !end) return second;
  if (end.kind === 'trailers') return block(end.headers, true);
  if (end.kind === 'noTrailers') return undefined;
  return stream.fail(end.kind === 'lost' ? lostStatus('EOF') : resetStatus(end.rstCode));
}

const anyBlock: Block = { streamId: 1, endStream: false, pseudo: new Map(), isTruncated: false, listBytes: 0 };

describe('a call is answered', () => {
  pin([
    [
      'with one message and status OK',
      { headers: grpc, body: serving, end: ok },
      { kind: 'answered', servingStatus: 1 },
    ],
    ['not before the stream has ended', { headers: grpc, body: serving }, undefined],
    [
      'with a content type that has parameters',
      { headers: { ...grpc, 'content-type': 'application/grpc+proto' }, body: serving, end: ok },
      { kind: 'answered', servingStatus: 1 },
    ],
  ]);
});

describe('the status counts, not the message', () => {
  pin([
    [
      'when the status is an error',
      { headers: grpc, body: serving, end: trailers({ 'grpc-status': '14', 'grpc-message': 'a%20b' }) },
      status(14, 'a b'),
    ],
    ['when there is no status', { headers: grpc, body: serving, end: trailers({}) }, status(2, '')],
    [
      'when the status is no number',
      { headers: grpc, body: none, end: trailers({ 'grpc-status': 'x' }) },
      status(2, 'transport: malformed grpc-status: strconv.ParseInt: parsing "x": invalid syntax'),
    ],
    [
      'when the status is out of range',
      { headers: grpc, body: none, end: trailers({ 'grpc-status': '4294967296' }) },
      status(2, 'transport: malformed grpc-status: strconv.ParseInt: parsing "4294967296": value out of range'),
    ],
    [
      'when the stream ends without trailers',
      { headers: grpc, body: serving, end: { kind: 'noTrailers' } },
      status(13, 'server closed the stream without sending trailers'),
    ],
    [
      'when the server resets the stream',
      { headers: grpc, body: serving, end: { kind: 'reset', rstCode: 8 } },
      status(1, 'stream terminated by RST_STREAM with error code: CANCEL'),
    ],
    [
      'when the reset has an unknown code',
      { headers: undefined, body: none, end: { kind: 'reset', rstCode: 99 } },
      status(2, 'stream terminated by RST_STREAM with error code: unknown error code 0x63'),
    ],
    [
      'when the connection is lost',
      { headers: undefined, body: none, end: { kind: 'lost' } },
      status(14, 'error reading from server: EOF'),
    ],
  ]);
});

describe('an answer that breaks the protocol is told before its status, and at once', () => {
  const internal = rpcCode.internal;
  pin([
    [
      'OK without a message',
      { headers: grpc, body: none, end: ok },
      status(internal, 'cardinality violation: received no response message from non-server-streaming RPC'),
    ],
    [
      'two messages',
      { headers: grpc, body: Buffer.concat([serving, serving]) },
      status(
        internal,
        'cardinality violation: expected <EOF> for non server-streaming RPCs, but received another message',
      ),
    ],
    [
      'half a prefix, then the end',
      { headers: grpc, body: serving.subarray(0, 3), end: ok },
      status(internal, 'unexpected EOF'),
    ],
    [
      'half a message, then the end',
      { headers: grpc, body: serving.subarray(0, 6), end: ok },
      status(internal, 'unexpected EOF'),
    ],
    [
      'half a second message, then the end',
      { headers: grpc, body: Buffer.concat([serving, serving.subarray(0, 6)]), end: ok },
      status(internal, 'unexpected EOF'),
    ],
    [
      'no protobuf',
      { headers: grpc, body: Buffer.from([0, 0, 0, 0, 1, 0x08]) },
      status(internal, 'grpc: failed to unmarshal the received message: proto: cannot parse invalid wire-format data'),
    ],
    [
      'a message that is too large',
      { headers: grpc, body: Buffer.from([0, 0xff, 0xff, 0xff, 0xff]) },
      status(rpcCode.resourceExhausted, 'grpc: received message larger than max (4294967295 vs. 4194304)'),
    ],
    [
      'a compressed message without an encoding',
      { headers: grpc, body: Buffer.from([1, 0, 0, 0, 0]) },
      status(internal, 'grpc: compressed flag set with identity or empty encoding'),
    ],
    [
      'a compressed message',
      { headers: { ...grpc, 'grpc-encoding': 'gzip' }, body: Buffer.from([1, 0, 0, 0, 0]) },
      status(internal, 'grpc: Decompressor is not installed for grpc-encoding "gzip"'),
    ],
    [
      'an unknown format',
      { headers: grpc, body: Buffer.from([2, 0, 0, 0, 0]) },
      status(internal, 'grpc: received unexpected payload format 2'),
    ],
  ]);
});

describe('an answer that is not gRPC is told by its HTTP status', () => {
  const foreign = (code: number, type?: string): Reply => ({
    headers: { ':status': code, ...(type !== undefined && { 'content-type': type }) },
    body: none,
  });
  const unexpected = 'unexpected HTTP status code received from server:';
  pin([
    [
      '404 is unimplemented',
      foreign(404, 'text/html'),
      status(12, `${unexpected} 404 (Not Found); transport: received unexpected content-type "text/html"`),
    ],
    [
      '200 without a type is unknown',
      foreign(200),
      status(2, `${unexpected} 200 (OK); malformed header: missing HTTP content-type`),
    ],
    [
      '503 is unavailable',
      foreign(503, 'application/grpcx'),
      status(
        14,
        `${unexpected} 503 (Service Unavailable); transport: received unexpected content-type "application/grpcx"`,
      ),
    ],
  ]);
});

describe('a header block that breaks the protocol ends the call', () => {
  const internal = rpcCode.internal;
  const first = (fields: Fields): Reply => ({ headers: { ...grpc, ...fields }, body: none });
  pin([
    [
      'a status that is no number, in the headers',
      first({ 'grpc-status': 'x' }),
      status(2, malformed('"x"', 'invalid syntax')),
    ],
    [
      'binary metadata that is no base64',
      first({ 'a-bin': '*' }),
      status(internal, 'transport: malformed a-bin: illegal base64 data'),
    ],
    ['binary metadata in base64, padded or not', first({ 'a-bin': 'AQ', 'b-bin': 'AQ==' }), undefined],
    [
      'no HTTP status and no content type',
      { headers: {}, body: none },
      status(internal, 'malformed header: missing HTTP status; malformed header: missing HTTP content-type'),
    ],
    ['an informational response is none', { headers: { ':status': 103 }, body: none }, undefined],
    [
      'details that name another code',
      { headers: grpc, body: serving, end: trailers({ 'grpc-status': '0', 'grpc-status-details-bin': 'CAU' }) },
      status(internal, 'grpc-status-details-bin mismatch: grpc-status=0, grpc-message=""'),
    ],
  ]);
  test('headers in the middle of the stream', () => {
    const stream = callStream();
    stream.field(knownField('content-type', 'application/grpc'));
    assert.equal(stream.headers(anyBlock), undefined);
    assert.deepEqual(
      stream.headers(anyBlock),
      status(internal, 'a HEADERS frame cannot appear in the middle of a stream'),
    );
  });
});

function malformed(text: string, why: string): string {
  return `transport: malformed grpc-status: strconv.ParseInt: parsing ${text}: ${why}`;
}
