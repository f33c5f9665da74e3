/** How long a message lay in the queue, by what SQS says of it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { waitOf } from '../../shared/queue/sqs-call.ts';

const sent = { SentTimestamp: '1893456000000', ApproximateFirstReceiveTimestamp: '1893456090500' };

for (const [what, attributes, expected] of [
  ['at its first receipt', { ...sent, ApproximateReceiveCount: '1' }, { waitedMs: 90_500 }],
  ['at a later one: SQS does not say when it was', { ...sent, ApproximateReceiveCount: '2' }, {}],
  ['without the attributes', { ApproximateReceiveCount: '1' }, {}],
  ['with one that is no number', { ...sent, SentTimestamp: 'now', ApproximateReceiveCount: '1' }, {}],
] as const)
  test(`the wait of a message ${what}`, () => assert.deepEqual(waitOf(attributes), expected));
