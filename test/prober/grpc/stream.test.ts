import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Block } from '../../../shared/http2/header-block.ts';
import { knownField } from '../../../shared/http2/hpack-table.ts';
import type { RpcResult } from '../../../shared/prober/grpc/reply.ts';
import { lostStatus, resetStatus, rpcCode } from '../../../shared/prober/grpc/status.ts';
import { callStream } from '../../../shared/prober/grpc/stream.ts';

type Fields = Readonly<Record<string, string | number>>;
type End =
  | { readonly kind: 'trailers'; readonly headers: Fields }
  | { readonly kind: 'noTrailers' }
  | { readonly kind: 'lost' }
  | { readonly kind: 'reset'; readonly rstCode: number };
/** What the server sends of a stream. `end`: absent while the stream continues. */
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

/** A reply with gRPC's headers. */
const reply = (body: Uint8Array, end?: End): Reply => ({ headers: grpc, body, ...(end && { end }) });
const ended = (body: Uint8Array, fields: Record<string, string>): Reply => reply(body, trailers(fields));
const unanswered = (end: End): Reply => ({ headers: undefined, body: none, end });
const answered: RpcResult = { kind: 'answered', servingStatus: 1 };

describe('a call is answered', () => {
  const parameters = { ...grpc, 'content-type': 'application/grpc+proto' };
  pin([
    ['with one message and status OK', reply(serving, ok), answered],
    ['not before the stream has ended', reply(serving), undefined],
    ['with a content type that has parameters', { ...reply(serving, ok), headers: parameters }, answered],
  ]);
});

describe('the status counts, not the message', () => {
  const reset = 'stream terminated by RST_STREAM with error code:';
  const error = { 'grpc-status': '14', 'grpc-message': 'a%20b' };
  const noTrailers = status(13, 'server closed the stream without sending trailers');
  const noNumber = status(2, malformed('"x"', 'invalid syntax'));
  const outOfRange = status(2, malformed('"4294967296"', 'value out of range'));
  const cancelled = reply(serving, { kind: 'reset', rstCode: 8 });
  const unknown = status(2, `${reset} unknown error code 0x63`);
  pin([
    ['when the status is an error', ended(serving, error), status(14, 'a b')],
    ['when there is no status', ended(serving, {}), status(2, '')],
    ['when the status is no number', ended(none, { 'grpc-status': 'x' }), noNumber],
    ['when the status is out of range', ended(none, { 'grpc-status': '4294967296' }), outOfRange],
    ['when the stream ends without trailers', reply(serving, { kind: 'noTrailers' }), noTrailers],
    ['when the server resets the stream', cancelled, status(1, `${reset} CANCEL`)],
    ['when the reset has an unknown code', unanswered({ kind: 'reset', rstCode: 99 }), unknown],
    ['when the connection is lost', unanswered({ kind: 'lost' }), status(14, 'error reading from server: EOF')],
  ]);
});

describe('an answer that breaks the protocol is reported before its status, and at once', () => {
  const internal = (message: string) => status(rpcCode.internal, message);
  const cut = internal('unexpected EOF');
  const second = Buffer.concat([serving, serving.subarray(0, 6)]);
  const ofBytes = (...bytes: readonly number[]) => reply(Buffer.from(bytes));
  const encoded = (by: string) => ({ ...ofBytes(1, 0, 0, 0, 0), headers: { ...grpc, 'grpc-encoding': by } });
  const noMessage = 'cardinality violation: received no response message from non-server-streaming RPC';
  const twoMessages =
    'cardinality violation: expected <EOF> for non server-streaming RPCs, but received another message';
  const noProtobuf = 'grpc: failed to unmarshal the received message: proto: cannot parse invalid wire-format data';
  const tooLarge = 'grpc: received message larger than max (4294967295 vs. 4194304)';
  const noEncoding = 'grpc: compressed flag set with identity or empty encoding';
  const noSnappy = 'grpc: Decompressor is not installed for grpc-encoding "snappy"';
  pin([
    ['OK without a message', reply(none, ok), internal(noMessage)],
    ['two messages', reply(Buffer.concat([serving, serving])), internal(twoMessages)],
    ['half a prefix, then the end', reply(serving.subarray(0, 3), ok), cut],
    ['half a message, then the end', reply(serving.subarray(0, 6), ok), cut],
    ['half a second message, then the end', reply(second, ok), cut],
    ['no protobuf', ofBytes(0, 0, 0, 0, 1, 0x08), internal(noProtobuf)],
    ['a message that is too large', ofBytes(0, 0xff, 0xff, 0xff, 0xff), status(rpcCode.resourceExhausted, tooLarge)],
    ['a compressed message without an encoding', ofBytes(1, 0, 0, 0, 0), internal(noEncoding)],
    ['a message compressed by snappy', encoded('snappy'), internal(noSnappy)],
    ['a message that is no gzip', encoded('gzip'), internal('grpc: failed to decompress the message')],
    ['an unknown format', ofBytes(2, 0, 0, 0, 0), internal('grpc: received unexpected payload format 2')],
  ]);
});

describe('an answer that is not gRPC is reported by its HTTP status', () => {
  const foreign = (code: number, type?: string): Reply => ({
    headers: { ':status': code, ...(type !== undefined && { 'content-type': type }) },
    body: none,
  });
  const unexpected = 'unexpected HTTP status code received from server:';
  const typed = (code: string, type: string) =>
    `${unexpected} ${code}; transport: received unexpected content-type "${type}"`;
  const untyped = `${unexpected} 200 (OK); malformed header: missing HTTP content-type`;
  const unavailable = status(14, typed('503 (Service Unavailable)', 'application/grpcx'));
  pin([
    ['404 is unimplemented', foreign(404, 'text/html'), status(12, typed('404 (Not Found)', 'text/html'))],
    ['200 without a type is unknown', foreign(200), status(2, untyped)],
    ['503 is unavailable', foreign(503, 'application/grpcx'), unavailable],
  ]);
});

describe('a header block that breaks the protocol ends the call', () => {
  const internal = rpcCode.internal;
  const first = (fields: Fields): Reply => ({ headers: { ...grpc, ...fields }, body: none });
  const noNumber = status(2, malformed('"x"', 'invalid syntax'));
  const noBase64 = status(internal, 'transport: malformed a-bin: illegal base64 data');
  const nothing = 'malformed header: missing HTTP status; malformed header: missing HTTP content-type';
  const details = ended(serving, { 'grpc-status': '0', 'grpc-status-details-bin': 'CAU' });
  const mismatch = status(internal, 'grpc-status-details-bin mismatch: grpc-status=0, grpc-message=""');
  pin([
    ['a status that is no number, in the headers', first({ 'grpc-status': 'x' }), noNumber],
    ['binary metadata that is no base64', first({ 'a-bin': '*' }), noBase64],
    ['binary metadata in base64, padded or not', first({ 'a-bin': 'AQ', 'b-bin': 'AQ==' }), undefined],
    ['no HTTP status and no content type', { headers: {}, body: none }, status(internal, nothing)],
    ['an informational response is none', { headers: { ':status': 103 }, body: none }, undefined],
    ['details that name another code', details, mismatch],
  ]);
  test('headers in the middle of the stream', () => {
    const stream = callStream();
    stream.field(knownField('content-type', 'application/grpc'));
    assert.equal(stream.headers(anyBlock), undefined);
    const misplaced = status(internal, 'a HEADERS frame cannot appear in the middle of a stream');
    assert.deepEqual(stream.headers(anyBlock), misplaced);
  });
});

function malformed(text: string, why: string): string {
  return `transport: malformed grpc-status: strconv.ParseInt: parsing ${text}: ${why}`;
}
