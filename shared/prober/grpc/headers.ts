/**
 * Reads a header block of a gRPC stream. Source: grpc-go, internal/transport/http2_client.go (operateHeaders). Pure.
 */
import { STATUS_CODES } from 'node:http';
import { atoi, goQuote } from '../../core/go/text.ts';
import type { Block } from '../../http2/header-block.ts';
import type { Field } from '../../http2/hpack-table.ts';
import { decodeGrpcMessage, isBase64, statusDetailsCode } from './codec.ts';
import { codeOfHttp, type RpcStatus, rpcCode, rpcStatus } from './status.ts';

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
