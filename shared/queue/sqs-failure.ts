/** What a failed call to SQS means: by error codes, never by messages. */
import { MessageNotInflight, ReceiptHandleIsInvalid, SQSServiceException } from '@aws-sdk/client-sqs';
import { isDenial } from '../aws/access.ts';

/**
 * - `handle`: of a call with a receipt handle, that it does not count any more.
 * - `passing`: worth another send; the call may have been carried out.
 * - `denied`: the caller lacks a right.
 * - `lasting`: refused for good, by its parameters.
 */
export type SqsFailure = 'handle' | 'passing' | 'denied' | 'lasting';

/** A handle whose visibility has ended has no code of its own (a FIFO queue refuses it, a standard queue would not). */
const invalidParameterNames: ReadonlySet<string> = new Set(['InvalidParameterValue', 'InvalidParameterValueException']);

const throttlingNames: ReadonlySet<string> = new Set([
  'RequestThrottled',
  'ThrottlingException',
  'Throttling',
  'OverLimit',
]);

const tooManyRequests = 429;
const serverErrorFrom = 500;

export function sqsFailure(error: unknown): SqsFailure {
  // No answer, or none that can be read.
  if (!(error instanceof SQSServiceException)) return 'passing';
  if (error instanceof ReceiptHandleIsInvalid || error instanceof MessageNotInflight) return 'handle';
  if (invalidParameterNames.has(error.name)) return 'handle';
  if (isDenial(error.name)) return 'denied';
  if (throttlingNames.has(error.name)) return 'passing';
  const status = error.$metadata.httpStatusCode ?? serverErrorFrom;
  return status >= serverErrorFrom || status === tooManyRequests ? 'passing' : 'lasting';
}
