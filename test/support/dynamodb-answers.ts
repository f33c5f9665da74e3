/** Error answers as DynamoDB sends them (JSON 1.0, `__type`, checksum), for what DynamoDB Local never answers. */
import { crc32 } from 'node:zlib';
import type { Answer } from './fault-proxy.ts';

const namespace = 'com.amazonaws.dynamodb.v20120810';

export function errorAnswer(
  name: string,
  { status = 400, ...attributes }: { readonly [name: string]: unknown } & { readonly status?: number } = {},
): Answer {
  const body = JSON.stringify({ __type: `${namespace}#${name}`, message: `injected ${name}`, ...attributes });
  return {
    status,
    headers: { 'content-type': 'application/x-amz-json-1.0', 'x-amz-crc32': String(crc32(body)) },
    body,
  };
}

export const internalServerError: Answer = errorAnswer('InternalServerError', { status: 500 });
export const serviceUnavailable: Answer = errorAnswer('ServiceUnavailable', { status: 503 });
export const tooManyRequests: Answer = errorAnswer('TooManyRequestsException', { status: 429 });
export const throttled: Answer = errorAnswer('ThrottlingException');
export const throughputExceeded: Answer = errorAnswer('ProvisionedThroughputExceededException');
export const requestLimitExceeded: Answer = errorAnswer('RequestLimitExceeded');
export const transactionInProgress: Answer = errorAnswer('TransactionInProgressException');
/** For a single write of an item that a transaction is touching. */
export const transactionConflict: Answer = errorAnswer('TransactionConflictException');
export const accessDenied: Answer = errorAnswer('AccessDeniedException');
export const validationError: Answer = errorAnswer('ValidationException');

/** What a gateway on the way answers: no JSON at all. */
export const badGateway: Answer = {
  status: 502,
  headers: { 'content-type': 'text/html' },
  body: '<html><body>502 Bad Gateway</body></html>',
};

export type CancellationCode =
  | 'None'
  | 'ConditionalCheckFailed'
  | 'ItemCollectionSizeLimitExceeded'
  | 'TransactionConflict'
  | 'ProvisionedThroughputExceeded'
  | 'ThrottlingError'
  | 'ValidationError';

/** A cancelled transaction, with one reason for each of its operations. */
export const cancelled = (codes: readonly CancellationCode[]): Answer =>
  errorAnswer('TransactionCanceledException', {
    Message: `Transaction cancelled, please refer cancellation reasons for specific reasons [${codes.join(', ')}]`,
    CancellationReasons: codes.map((Code) => (Code === 'None' ? { Code } : { Code, Message: `injected ${Code}` })),
  });
