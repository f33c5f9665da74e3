import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type Reply, type RpcResult, readReply, rpcCode, type StreamEnd } from '../../shared/prober/grpc-reply.ts';

const grpc = { ':status': 200, 'content-type': 'application/grpc' };
const serving = Buffer.from([0, 0, 0, 0, 2, 0x08, 1]);
const none = Buffer.alloc(0);
const trailers = (fields: Record<string, string>): StreamEnd => ({ kind: 'trailers', headers: fields });
const ok = trailers({ 'grpc-status': '0' });
const status = (code: number, message: string): RpcResult => ({ kind: 'status', code, message });

type Row = readonly [what: string, reply: Reply, result: RpcResult | undefined];

function pin(rows: readonly Row[]): void {
  for (const [what, reply, result] of rows) test(what, () => assert.deepEqual(readReply(reply), result));
}

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
      status(rpcCode.resourceExhausted, 'grpc: received message larger than max (4294967295 vs. 4096)'),
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
