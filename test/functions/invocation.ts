/** What Lambda and the mapping of a queue hand to a function. */
import type { Message } from '@aws-sdk/client-sqs';

/** A message as a mapping puts it into its event. */
export const recordOf = ({ MessageId, ReceiptHandle, Body, Attributes }: Message) => ({
  messageId: MessageId ?? '',
  receiptHandle: ReceiptHandle ?? '',
  body: Body ?? '',
  attributes: Attributes ?? {},
  messageAttributes: {},
  eventSource: 'aws:sqs',
  eventSourceARN: 'arn:aws:sqs:us-east-1:000000000000:queue',
  awsRegion: 'us-east-1',
});

/** An invocation that has so much time. */
export function context(forMs: number) {
  const endsAtMs = performance.now() + forMs;
  return { awsRequestId: 'request-1', getRemainingTimeInMillis: () => endsAtMs - performance.now() };
}
