/** The stream of one unary call: what the server has sent, until that decides the call. Pure. */
import { STATUS_CODES } from 'node:http';
import { atoi, goQuote } from '../../core/go/text.ts';
import type { Block } from '../../http2/header-block.ts';
import type { Field } from '../../http2/hpack-table.ts';
import type { Data } from '../../http2/inbound.ts';
import { receiveWindow } from '../../http2/receive-window.ts';
import { decodeGrpcMessage, isBase64, statusDetailsCode } from './codec.ts';
import { ReplyReader, type RpcResult, type StreamEnd } from './reply.ts';
import { codeOfHttp, noTrailers, type RpcStatus, rpcCode, rpcStatus } from './status.ts';

/** Before the server has said anything else: what grpc-go grants to a stream. */
const windowBytes = 65_535;
/** A smaller grant can wait: the server has enough of its window left. */
const grantBytesMin = windowBytes / 4;

/** Each function that returns a result returns undefined while the call is undecided. */
export type CallStream = {
  /** A field of the header block that is arriving. */
  readonly field: (field: Field) => void;
  readonly headers: (block: Block) => RpcResult | undefined;
  readonly data: (data: ReceivedData) => RpcResult | undefined;
  /**
   * How many bytes to grant to the server for what has arrived. To be called once everything that is here has been
   * taken: a server that sends more than its window without waiting must not find a wider one.
   */
  readonly grant: () => number;
  /** Whether there may be bytes to grant. */
  readonly isGrantDue: () => boolean;
  /** Something other than the server's END_STREAM ends the stream. */
  readonly fail: (status: RpcStatus) => RpcResult;
};

export type ReceivedData = Pick<Data, 'data' | 'payloadBytes' | 'endStream'>;

export function callStream(): CallStream {
  const reply = new ReplyReader();
  const window = receiveWindow(windowBytes);
  let fields: GrpcFields = noFields;
  /** From the headers; undefined: they have not arrived. */
  let encoding: string | undefined;
  let unreadBytes = 0;
  let begunBytes = 0;

  const decide = (end?: StreamEnd) => reply.decide(encoding ?? '', end);
  const fail = (status: RpcStatus): RpcResult => decide({ status, isEndOfFile: false }) ?? status;
  return {
    field: (field) => {
      fields = withField(fields, field);
    },
    headers: (block) => {
      const meaning = readBlock(block, fields, encoding === undefined);
      fields = noFields;
      switch (meaning.kind) {
        case 'headers':
          encoding = meaning.encoding;
          return decide();
        case 'trailers':
          return decide({ status: meaning.status, isEndOfFile: true });
        case 'refused':
          return fail(meaning.status);
        case 'nothing':
          return undefined;
      }
    },
    data: ({ data, payloadBytes, endStream }) => {
      if (!window.arrived(payloadBytes)) return fail(rpcStatus(rpcCode.internal, tooMuch));
      unreadBytes += payloadBytes;
      begunBytes += reply.take(data);
      // grpc-go hands messages over once the headers have come.
      if (endStream) return decide({ status: noTrailers, isEndOfFile: true });
      return encoding === undefined ? undefined : decide();
    },
    isGrantDue: () => Math.max(unreadBytes, begunBytes) >= grantBytesMin,
    grant: () => {
      const bytes = window.read(unreadBytes) + (begunBytes > 0 ? window.expect(begunBytes) : 0);
      unreadBytes = 0;
      begunBytes = 0;
      return bytes;
    },
    fail,
  };
}

const tooMuch = `received more data than the limit of ${windowBytes} bytes`;

// Reads a header block of a gRPC stream. Source: grpc-go, internal/transport/http2_client.go (operateHeaders). Pure.

/** The relevant fields of one block, as they arrive. */
export type GrpcFields = {
  readonly isGrpc?: true;
  /** Why the latest content type is not gRPC's; absent: it is. */
  readonly contentTypeProblem?: string;
  readonly encoding?: string;
  readonly code?: number;
  readonly message?: string;
  /** Two count as none. */
  readonly details?: readonly string[];
  /** A status that is not a number decides alone. */
  readonly malformedStatus?: RpcStatus;
  readonly malformedMetadata?: string;
};

export const noFields: GrpcFields = {};

const detailsField = 'grpc-status-details-bin';

export const isGrpcField = (name: string): boolean =>
  name === 'content-type' ||
  name === 'grpc-encoding' ||
  name === 'grpc-status' ||
  name === 'grpc-message' ||
  name.endsWith('-bin');

export function withField(fields: GrpcFields, { name, value = '' }: Field): GrpcFields {
  if (fields.malformedStatus) return fields;
  switch (name) {
    case 'content-type':
      return withContentType(fields, value);
    case 'grpc-encoding':
      return { ...fields, encoding: value };
    case 'grpc-status':
      return withStatus(fields, value);
    case 'grpc-message':
      return { ...fields, message: value };
    default:
      return withBinary(fields, name, value);
  }
}

function withContentType(fields: GrpcFields, value: string): GrpcFields {
  if (!/^application\/grpc([+;]|$)/.test(value))
    return { ...fields, contentTypeProblem: `transport: received unexpected content-type ${goQuote(value)}` };
  const { contentTypeProblem: _, ...rest } = fields;
  return { ...rest, isGrpc: true };
}

function withStatus(fields: GrpcFields, value: string): GrpcFields {
  const isNumber = /^[+-]?\d+$/.test(value);
  const code = isNumber ? atoi(value) : undefined;
  if (code?.kind === 'integer' && code.value === (code.value | 0)) return { ...fields, code: code.value >>> 0 };
  const why = isNumber ? 'value out of range' : 'invalid syntax';
  const text = `transport: malformed grpc-status: strconv.ParseInt: parsing ${goQuote(value)}: ${why}`;
  return { ...fields, malformedStatus: rpcStatus(rpcCode.unknown, text) };
}

function withBinary(fields: GrpcFields, name: string, value: string): GrpcFields {
  if (!isBase64(value)) return { ...fields, malformedMetadata: `transport: malformed ${name}: illegal base64 data` };
  if (name !== detailsField) return fields;
  return { ...fields, details: [...(fields.details ?? []), value].slice(0, 2) };
}

export type BlockMeaning =
  /** The headers; messages may follow. */
  | { readonly kind: 'headers'; readonly encoding: string }
  /** The stream ends in order with this status. */
  | { readonly kind: 'trailers'; readonly status: RpcStatus }
  /** The block breaks the protocol, so the stream ends here. */
  | { readonly kind: 'refused'; readonly status: RpcStatus }
  /** An informational response. */
  | { readonly kind: 'nothing' };

/** `isFirst`: no headers came before. */
export function readBlock(block: Block, fields: GrpcFields, isFirst: boolean): BlockMeaning {
  const { endStream, isTruncated } = block;
  if (!isFirst && !endStream) return refused('a HEADERS frame cannot appear in the middle of a stream');
  if (isTruncated) return refused('peer header list size exceeded limit');
  if (fields.malformedStatus) return { kind: 'refused', status: fields.malformedStatus };
  if (isFirst && !fields.isGrpc) return foreign(block, fields);
  if (fields.malformedMetadata !== undefined) return refused(fields.malformedMetadata);
  if (!endStream) return { kind: 'headers', encoding: fields.encoding ?? '' };
  return { kind: 'trailers', status: trailerStatus(fields) };
}

const refused = (message: string): BlockMeaning => ({ kind: 'refused', status: rpcStatus(rpcCode.internal, message) });

/** Not gRPC: the HTTP status gives the code. */
function foreign({ pseudo, endStream }: Block, { contentTypeProblem }: GrpcFields): BlockMeaning {
  const why = contentTypeProblem ?? 'malformed header: missing HTTP content-type';
  const text = pseudo.get(':status') ?? '';
  if (text === '') return refused(`malformed header: missing HTTP status; ${why}`);
  const parsed = atoi(text);
  if (parsed.kind === 'error') return refused(`transport: malformed http-status: ${parsed.error}`);
  const status = parsed.value;
  if (status >= 100 && status < 200) {
    const message = `protocol error: informational header with status code ${status} must not have END_STREAM set`;
    return endStream ? refused(message) : { kind: 'nothing' };
  }
  const http = `unexpected HTTP status code received from server: ${status} (${STATUS_CODES[status] ?? ''})`;
  return { kind: 'refused', status: rpcStatus(codeOfHttp(status), `${http}; ${why}`) };
}

/** Without a `grpc-status` it is Unknown. Details with another code than the header make the status Internal. */
function trailerStatus({ code = rpcCode.unknown, message = '', details = [] }: GrpcFields): RpcStatus {
  const text = decodeGrpcMessage(message);
  const [only, more] = details;
  const detailed = only === undefined || more !== undefined ? undefined : statusDetailsCode(only);
  return detailed === undefined || detailed >>> 0 === code
    ? rpcStatus(code, text)
    : rpcStatus(
        rpcCode.internal,
        `grpc-status-details-bin mismatch: grpc-status=${code}, grpc-message=${goQuote(text)}`,
      );
}
