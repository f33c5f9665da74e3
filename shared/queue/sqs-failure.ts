/** Classifies a failed call to SQS by error code, never by message. */
import { MessageNotInflight, ReceiptHandleIsInvalid, SQSServiceException } from '@aws-sdk/client-sqs';
import { isDenial } from '../aws/access.ts';

/**
 * - `handle`: the receipt handle is no longer valid.
 * - `passing`: a retry may succeed. The call may have been executed.
 * - `denied`: the caller lacks a permission.
 * - `lasting`: the parameters are invalid, so a retry is useless.
 */
export type SqsFailure = 'handle' | 'passing' | 'denied' | 'lasting';

/**
 * SQS has no specific code for an expired handle. A FIFO queue rejects it with these; a standard queue would accept it.
 */
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
  // There was no answer, or it could not be read.
  if (!(error instanceof SQSServiceException)) return 'passing';
  if (error instanceof ReceiptHandleIsInvalid || error instanceof MessageNotInflight) return 'handle';
  if (invalidParameterNames.has(error.name)) return 'handle';
  if (isDenial(error.name)) return 'denied';
  if (throttlingNames.has(error.name)) return 'passing';
  const status = error.$metadata.httpStatusCode ?? serverErrorFrom;
  return status >= serverErrorFrom || status === tooManyRequests ? 'passing' : 'lasting';
}
