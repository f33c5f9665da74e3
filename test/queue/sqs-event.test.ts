import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { ReceiveMessageCommand } from '@aws-sdk/client-sqs';
import { systemClock } from '../../shared/lib/clock.ts';
import { systemRandom } from '../../shared/lib/random.ts';
import { decodeShardMessage } from '../../shared/queue/shard-message.ts';
import { sqsQueue } from '../../shared/queue/sqs.ts';
import { decodeSqsEvent, type SqsEventBatch } from '../../shared/queue/sqs-event.ts';
import { column } from '../support/columns.ts';
import { createQueue, type Ministack, ministackSqs, startMinistack } from '../support/ministack.ts';
import { pythonPrograms } from '../support/python-programs.ts';
import { shardMessage } from '../support/shard-messages.ts';

pythonPrograms();

let ministack: Ministack;
let client: ReturnType<typeof ministackSqs>;
let queues = 0;

before(async () => {
  ministack = await startMinistack();
  client = ministackSqs(ministack.endpoint);
});
after(async () => {
  client?.destroy();
  await ministack?.stop();
});

async function world() {
  queues += 1;
  const queueUrl = await createQueue(client, `event-${queues}`);
  const ports = { client, queueUrl, clock: systemClock, random: systemRandom };
  const queue = sqsQueue(ports);
  for (const group of ['a', 'b'])
    await queue.send(shardMessage({ shard: group }), { group, deduplicationId: `id-${group}` });
  /** What a mapping does: it receives, and puts what it got into an event. */
  const event = async (visibilitySeconds = 60) => {
    const { Messages: messages = [] } = await client.send(
      new ReceiveMessageCommand({
        QueueUrl: queueUrl,
        MaxNumberOfMessages: 10,
        VisibilityTimeout: visibilitySeconds,
        MessageSystemAttributeNames: ['All'],
      }),
    );
    const records = messages.map(({ MessageId, ReceiptHandle, Body, Attributes, MD5OfBody }) => ({
      messageId: MessageId,
      receiptHandle: ReceiptHandle,
      body: Body,
      attributes: Attributes,
      messageAttributes: {},
      md5OfBody: MD5OfBody,
      eventSource: 'aws:sqs',
      eventSourceARN: 'arn:aws:sqs:us-east-1:000000000000:shards.fifo',
      awsRegion: 'us-east-1',
    }));
    return { Records: records };
  };
  const decoded = (given: unknown): SqsEventBatch => {
    const { kind, ...rest } = decodeSqsEvent(given, ports);
    assert.ok(kind === 'ok' && 'batch' in rest);
    return rest.batch;
  };
  return { queue, event, decoded, ports };
}

describe('an event of Lambda’s SQS mapping', () => {
  test('holds messages as the queue delivers them', async () => {
    const { event, decoded } = await world();
    const { received } = decoded(await event());
    const seen = received.map(({ body, group, receiveCount }) => [decodeShardMessage(body), group, receiveCount]);
    const sent = ['a', 'b'].map((group) => [{ kind: 'ok', message: shardMessage({ shard: group }) }, group, 1]);
    assert.deepEqual(seen, sent);
  });

  test('is answered with what was not acknowledged', async () => {
    const { event, decoded, queue } = await world();
    const given = await event();
    const batch = decoded(given);
    const [first, second] = batch.received;
    const failures = (...records: readonly number[]) => ({
      batchItemFailures: records.map((index) => ({ itemIdentifier: given.Records[index]?.messageId })),
    });
    assert.deepEqual(batch.answer(), failures(0, 1));
    assert.equal(await first?.acknowledge(), true);
    assert.deepEqual(batch.answer(), failures(1));
    // It is deleted by its handle, not left to the mapping.
    assert.equal(await first?.lease.extend(60_000), false);
    assert.equal(await second?.lease.extend(0), true);
    assert.deepEqual(batch.answer(), failures(1));
    assert.equal((await queue.receive(1_000))?.group, 'b');
  });

  test('of a run that was paused past its visibility does not delete the message of its successor', async () => {
    const { event, decoded } = await world();
    const paused = decoded(await event(0));
    const successor = decoded(await event());
    assert.deepEqual(column(successor.received, 'receiveCount'), [2, 2]);
    for (const late of paused.received) {
      assert.equal(await late.lease.extend(60_000), false);
      assert.equal(await late.acknowledge(), false);
    }
    assert.equal(paused.answer().batchItemFailures.length, 2);
    for (const each of successor.received) assert.equal(await each.acknowledge(), true);
    assert.deepEqual(successor.answer(), { batchItemFailures: [] });
  });

  test('of another source is malformed', async () => {
    const { event, ports } = await world();
    const [record] = (await event()).Records;
    const { MessageGroupId: _, ...standard } = record?.attributes ?? {};
    const others = [undefined, null, 'text', {}, { Records: 'none' }, { Records: [{ Sns: {} }] }];
    for (const other of [...others, { Records: [{ ...record, attributes: standard }] }]) {
      const decoded = decodeSqsEvent(other, ports);
      assert.equal(decoded.kind, 'malformed');
      assert.notEqual(decoded.kind === 'malformed' && decoded.detail, '');
    }
  });
});
