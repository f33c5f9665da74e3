/**
 * Error answers as SQS sends them (JSON 1.0, `__type`, and the old query protocol's code in a header), for what no
 * emulator answers.
 */
import type { Answer } from './fault-proxy.ts';

type Given = { readonly type: string; readonly code?: string; readonly status?: number };

const errorAnswer = ({ type, code, status = 400 }: Given): Answer => ({
  status,
  headers: {
    'content-type': 'application/x-amz-json-1.0',
    ...(code && { 'x-amzn-query-error': `${code};${status < 500 ? 'Sender' : 'Receiver'}` }),
  },
  body: JSON.stringify({ __type: type, message: `injected ${code ?? type}` }),
});

const own = 'com.amazonaws.sqs';
const general = 'com.amazon.coral.service';

export const sqsAnswers = {
  /** A FIFO queue's answer to a handle whose visibility has ended. */
  handleExpired: errorAnswer({ type: `${general}#InvalidParameterValueException`, code: 'InvalidParameterValue' }),
  handleExpiredWithoutCode: errorAnswer({ type: `${general}#InvalidParameterValueException` }),
  handleInvalid: errorAnswer({ type: `${own}#ReceiptHandleIsInvalid`, code: 'ReceiptHandleIsInvalid', status: 404 }),
  notInFlight: errorAnswer({
    type: `${own}#MessageNotInflight`,
    code: 'AWS.SimpleQueueService.MessageNotInflight',
  }),
  throttled: errorAnswer({ type: `${own}#RequestThrottled`, code: 'RequestThrottled' }),
  overLimit: errorAnswer({ type: `${own}#OverLimit`, code: 'OverLimit', status: 403 }),
  tooManyRequests: errorAnswer({ type: `${general}#ThrottlingException`, status: 429 }),
  internalError: errorAnswer({ type: `${general}#InternalFailure`, code: 'InternalFailure', status: 500 }),
  unavailable: errorAnswer({ type: `${general}#ServiceUnavailable`, code: 'ServiceUnavailable', status: 503 }),
  accessDenied: errorAnswer({ type: `${general}#AccessDeniedException`, code: 'AccessDenied', status: 403 }),
  noSuchQueue: errorAnswer({
    type: `${own}#QueueDoesNotExist`,
    code: 'AWS.SimpleQueueService.NonExistentQueue',
  }),
} satisfies { readonly [name: string]: Answer };
