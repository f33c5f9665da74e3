/** SQS with faults on the way: a message is sent once, and a lease is never believed to hold when it does not. */
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import { beatIntervalMs, visibilityMs as leaseMs } from '../../shared/holder/beat.ts';
import { systemClock } from '../../shared/lib/clock.ts';
import { QueueUnavailable, type Received } from '../../shared/queue/queue.ts';
import { type SqsQueue, sqsQueue } from '../../shared/queue/sqs.ts';
import { badGateway } from '../support/dynamodb-answers.ts';
import { type Fault, type FaultProxy, faultAt, passAll, startFaultProxy } from '../support/fault-proxy.ts';
import { createQueue, type Ministack, ministackSqs, startMinistack } from '../support/ministack.ts';
import { pythonPrograms } from '../support/python-programs.ts';
import { shardMessage } from '../support/shard-messages.ts';
import { sqsAnswers } from '../support/sqs-answers.ts';

pythonPrograms();

let ministack: Ministack;
let proxy: FaultProxy;
let client: ReturnType<typeof ministackSqs>;
let queue: SqsQueue;
let queueUrl: string;
let queues = 0;
/** No pauses between sends. */
const random = { next: () => 0, uuid: () => crypto.randomUUID() };
/** Nothing comes again within a test. */
const visibilityMs = 600_000;
/** Longer than any call takes that is not late on purpose. */
const requestTimeoutMs = 20_000;
const shortRequestTimeoutMs = 1_500;
const lateMs = 2_500;

before(async () => {
  ministack = await startMinistack();
  proxy = await startFaultProxy(ministack);
  client = ministackSqs(proxy.endpoint);
});
after(async () => {
  client?.destroy();
  await proxy?.close();
  await ministack?.stop();
});
beforeEach(async () => {
  proxy.play(passAll);
  queues += 1;
  queueUrl = await createQueue(client, `faults-${queues}`);
  queue = queueWith(requestTimeoutMs);
});

const queueWith = (timeoutMs: number) =>
  sqsQueue({ client, queueUrl, clock: systemClock, random, visibilityMs, requestTimeoutMs: timeoutMs });
/** Does not wait longer than it has to for what is late. */
const useQueueFor = (fault: Fault) => {
  if (fault.kind === 'delayResponse') queue = queueWith(shortRequestTimeoutMs);
};

const sendOne = (slot = 1) => queue.send(shardMessage({ slot }), { group: 'a', deduplicationId: `slot-${slot}` });
const next = async (): Promise<Received> => {
  const received = await queue.receive(1_000);
  assert.ok(received, 'a message');
  return received;
};
/** What comes of a poll that is broken off as soon as its call is on the way. */
const brokenOff = async (waitMs: number): Promise<Received | undefined> => {
  const stop = new AbortController();
  const waiting = queue.receive(waitMs, stop.signal);
  while (calls() === 0) await new Promise(setImmediate);
  stop.abort();
  return waiting;
};
const held = async (): Promise<Received> => {
  await sendOne();
  return next();
};
const calls = () => proxy.calls().length;
const answering = (answer: keyof typeof sqsAnswers): Fault => ({ kind: 'answer', answer: sqsAnswers[answer] });

const passing: { readonly [name: string]: Fault } = {
  'a request that was lost': { kind: 'dropRequest' },
  'an answer that was lost': { kind: 'dropResponse' },
  'an answer that is late': { kind: 'delayResponse', delayMs: lateMs },
  throttling: answering('throttled'),
  'too much in flight': answering('overLimit'),
  'too many requests': answering('tooManyRequests'),
  'an internal error': answering('internalError'),
  'an internal error after the fact': { kind: 'answer', answer: sqsAnswers.internalError, applied: true },
  'a service that is down': answering('unavailable'),
  'a gateway on the way': { kind: 'answer', answer: badGateway },
};

describe('a message is sent once in spite of', () => {
  for (const [name, fault] of Object.entries(passing))
    test(name, async () => {
      useQueueFor(fault);
      proxy.play(faultAt(0, fault));
      await sendOne();
      assert.equal(calls(), 2);
      await (await next()).acknowledge();
      assert.equal(await queue.receive(0), undefined);
    });
});

describe('a lease is extended in spite of', () => {
  for (const [name, fault] of Object.entries(passing))
    test(name, async () => {
      useQueueFor(fault);
      const { lease } = await held();
      proxy.play(faultAt(0, fault));
      assert.equal(await lease.extend(visibilityMs), true);
      assert.equal(calls(), 2);
    });
});

describe('a handle does not count any more when SQS says', () => {
  for (const name of ['handleExpired', 'handleExpiredWithoutCode', 'handleInvalid', 'notInFlight'] as const)
    test(name, async () => {
      const received = await held();
      proxy.play(() => answering(name));
      assert.equal(await received.lease.extend(visibilityMs), false);
      assert.equal(await received.acknowledge(), false);
      assert.equal(calls(), 2);
    });
});

describe('the queue is not available', () => {
  test('when it does not answer: an extension is tried twice, a send and a deletion four times', async () => {
    const received = await held();
    const sent: { readonly [call: string]: [() => Promise<unknown>, number] } = {
      extend: [() => received.lease.extend(visibilityMs), 2],
      acknowledge: [() => received.acknowledge(), 4],
      send: [() => sendOne(2), 4],
      receive: [() => queue.receive(0), 2],
    };
    for (const [call, [attempt, expected]] of Object.entries(sent)) {
      proxy.play(() => ({ kind: 'dropRequest' }));
      await assert.rejects(attempt, QueueUnavailable, call);
      assert.equal(calls(), expected, call);
    }
  });

  for (const name of ['accessDenied', 'noSuchQueue'] as const)
    test(`when SQS says ${name}, and is not asked again`, async () => {
      const received = await held();
      for (const attempt of [() => received.lease.extend(1), () => sendOne(2), () => queue.receive(0)]) {
        proxy.play(() => answering(name));
        await assert.rejects(attempt, QueueUnavailable);
        assert.equal(calls(), 1);
      }
    });

  test('when it refuses what is sent: a message is not lost in silence', async () => {
    proxy.play(() => answering('handleExpired'));
    await assert.rejects(() => sendOne(), QueueUnavailable);
    await assert.rejects(() => queue.receive(0), QueueUnavailable);
  });
});

test('a receipt whose answer was lost is asked for again by the same attempt id', async () => {
  await sendOne();
  proxy.play(faultAt(0, { kind: 'dropRequest' }));
  assert.equal((await next()).receiveCount, 1);
  const ids = proxy.calls().map(({ body }) => JSON.parse(body).ReceiveRequestAttemptId);
  assert.equal(ids.length, 2);
  assert.equal(ids[0], ids[1]);
  proxy.play(passAll);
  await queue.receive(0);
  assert.notEqual(JSON.parse(proxy.calls()[0]?.body ?? '{}').ReceiveRequestAttemptId, ids[0]);
});

test('a poll that is broken off releases at once what it brings', async () => {
  proxy.play(passAll);
  assert.equal(await brokenOff(5_000), undefined);
  await sendOne();
  await queue.settled();
  const { receiveCount } = await next();
  assert.equal(receiveCount, 2);
});

test('a poll that was broken off and fails is not repeated', async () => {
  queue = queueWith(shortRequestTimeoutMs);
  proxy.play(() => ({ kind: 'delayResponse', delayMs: lateMs }));
  assert.equal(await brokenOff(0), undefined);
  await queue.settled();
  assert.equal(calls(), 1);
});

test('no poll is as long as the rest of the lease of a run that has crashed', async () => {
  proxy.play(passAll);
  await brokenOff(20_000);
  const { WaitTimeSeconds } = JSON.parse(proxy.calls()[0]?.body ?? '{}');
  assert.ok(WaitTimeSeconds * 1_000 < leaseMs - beatIntervalMs, `${WaitTimeSeconds} s`);
});

test('a poll that is broken off says that nothing came, and is not repeated', async () => {
  proxy.play(passAll);
  assert.equal(await brokenOff(20_000), undefined);
  assert.equal(calls(), 1);
});
