/** Classifies a failed call to DynamoDB by what it means for the write, by error code and never by message. */
import {
  type CancellationReason,
  ConditionalCheckFailedException,
  DynamoDBServiceException,
  TransactionCanceledException,
} from '@aws-sdk/client-dynamodb';
import { isDenial } from '../../aws/access.ts';
import type { Attributes } from './value.ts';

/** A refusal with the item as DynamoDB returns it. */
export type RawRefusal =
  | { readonly index: number; readonly kind: 'condition'; readonly item: Attributes | undefined }
  | { readonly index: number; readonly kind: 'conflict' };

export type Failure =
  | { readonly kind: 'refused'; readonly refusals: readonly RawRefusal[] }
  /** Nothing was applied, because the caller lacks a permission. */
  | { readonly kind: 'denied'; readonly cause: unknown }
  /** Nothing was applied: the table, one of its partitions or the account has no capacity left now. */
  | { readonly kind: 'throttled'; readonly cause: unknown }
  /** Nothing was applied. `retry` means that another attempt may succeed. */
  | { readonly kind: 'unapplied'; readonly retry: boolean; readonly cause: unknown }
  /** It is not known whether the write was applied or will be. */
  | { readonly kind: 'ambiguous'; readonly cause: unknown };

/** DynamoDB throttled the request and did not execute it. */
const throttlingNames: ReadonlySet<string> = new Set([
  'ProvisionedThroughputExceededException',
  'ThrottlingException',
  'RequestLimitExceeded',
]);

/**
 * The request is invalid, which is a bug. IdempotentParameterMismatch means that one token was used for two different
 * writes.
 */
const bugNames: ReadonlySet<string> = new Set([
  'ValidationException',
  'SerializationException',
  'IdempotentParameterMismatchException',
]);

/** Node's error codes for a connection that was never established. */
const unconnectedCodes: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
]);

class IncompleteAnswer extends Error {
  override readonly name = 'IncompleteAnswer';
}

type Whole<Answer, Part extends keyof Answer> = Answer & { readonly [name in Part]-?: NonNullable<Answer[Part]> };

/**
 * Checks that an answer has this part, as every complete answer does. Otherwise a page without items would count as an
 * empty partition and drop every target of a bucket, and an update without its item would be a claim without a token.
 * @throws IncompleteAnswer if something on the way truncated the answer. The caller treats the answer as lost.
 */
export function whole<Answer, Part extends keyof Answer & string>(answer: Answer, part: Part): Whole<Answer, Part> {
  if (answer[part] === undefined) throw new IncompleteAnswer(`an answer without ${part}`);
  return answer as Whole<Answer, Part>;
}

/** @throws the error itself if it is a bug. */
export function dynamodbFailureOf(error: unknown): Failure {
  if (error instanceof ConditionalCheckFailedException)
    return { kind: 'refused', refusals: [{ index: 0, kind: 'condition', item: error.Item }] };
  if (error instanceof TransactionCanceledException) return cancelled(error);
  if (error instanceof DynamoDBServiceException) return serviceFailure(error);
  return transportFailure(error);
}

function serviceFailure(error: DynamoDBServiceException): Failure {
  if (error.name === 'TransactionConflictException')
    return { kind: 'refused', refusals: [{ index: 0, kind: 'conflict' }] };
  /** An earlier attempt with the same token is still in progress, and its outcome is not known yet. */
  if (error.name === 'TransactionInProgressException') return { kind: 'ambiguous', cause: error };
  if (isDenial(error.name)) return { kind: 'denied', cause: error };
  if (bugNames.has(error.name)) throw error;
  return byStatus(error, { status: error.$metadata.httpStatusCode ?? 0, throttled: throttlingNames.has(error.name) });
}

const tooManyRequests = 429;

/**
 * AWS documents that a request with an internal server error may have been applied. Other client errors (no such table,
 * expired credentials) mean a refusal.
 */
function byStatus(cause: unknown, { status, throttled }: { status: number; throttled: boolean }): Failure {
  if (throttled || status === tooManyRequests) return { kind: 'throttled', cause };
  if (status >= 400 && status < 500) return { kind: 'unapplied', retry: false, cause };
  return { kind: 'ambiguous', cause };
}

function transportFailure(error: unknown): Failure {
  if (!(error instanceof Error)) throw error;
  if (error.name === 'CredentialsProviderError') return { kind: 'unapplied', retry: false, cause: error };
  if ('code' in error && unconnectedCodes.has(String(error.code)))
    return { kind: 'unapplied', retry: true, cause: error };
  if (error instanceof IncompleteAnswer || error.name === 'TimeoutError' || 'code' in error)
    return { kind: 'ambiguous', cause: error };
  const status = answeredStatus(error);
  if (status === undefined) throw error;
  return byStatus(error, { status, throttled: false });
}

/**
 * The SDK attaches the response to an error that it throws while parsing, for example on an HTML page from a gateway.
 */
function answeredStatus(error: Error): number | undefined {
  if (!('$response' in error)) return undefined;
  const response: unknown = error.$response;
  const known = typeof response === 'object' && response !== null && 'statusCode' in response;
  return known && typeof response.statusCode === 'number' ? response.statusCode : 0;
}

/** A cancelled transaction applied nothing. The most serious reason determines the result. */
function cancelled(error: TransactionCanceledException): Failure {
  const reasons = error.CancellationReasons ?? [];
  if (reasons.some((reason) => reason.Code === 'ValidationError')) throw error;
  const refusals = reasons.flatMap(refusalOf);
  if (refusals.length > 0) return { kind: 'refused', refusals };
  return reasons.some(isThrottling)
    ? { kind: 'throttled', cause: error }
    : { kind: 'unapplied', retry: false, cause: error };
}

function refusalOf(reason: CancellationReason, index: number): readonly RawRefusal[] {
  if (reason.Code === 'ConditionalCheckFailed') return [{ index, kind: 'condition', item: reason.Item }];
  return reason.Code === 'TransactionConflict' ? [{ index, kind: 'conflict' }] : [];
}

/** Where no reason is one, as `ItemCollectionSizeLimitExceeded` and unknown codes, a retry is not worth it. */
const isThrottling = (reason: CancellationReason): boolean =>
  reason.Code === 'ThrottlingError' || reason.Code === 'ProvisionedThroughputExceeded';
