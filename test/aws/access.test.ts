import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { deniedTargets } from '../../functions/status-sync/status-sync.ts';
import { access, deniedForMs } from '../../shared/aws/access.ts';
import { virtualClock } from '../support/virtual-clock.ts';

function world() {
  const clock = virtualClock();
  const logged: unknown[] = [];
  let denials = 0;
  const own = access({
    clock,
    log: { error: (message, fields) => void logged.push([message, fields?.request]) },
    onDenied: () => {
      denials += 1;
    },
  });
  return { clock, own, logged, denials: () => denials };
}

describe('a request that AWS denies', () => {
  test('is logged once, and counted each time', () => {
    const { own, logged, denials } = world();
    for (let again = 0; again < 3; again += 1) own.denied('DynamoDB: put', new Error('denied'));
    assert.deepEqual([logged, denials()], [[['access denied', 'DynamoDB: put']], 3]);
  });

  test('is not sent for a while, and others are', async () => {
    const { clock, own } = world();
    own.denied('DynamoDB: put', new Error('denied'));
    await clock.advance(deniedForMs - 1);
    assert.deepEqual([own.isDenied('DynamoDB: put'), own.isDenied('DynamoDB: get')], [true, false]);
    await clock.advance(1);
    assert.equal(own.isDenied('DynamoDB: put'), false);
  });

  test('is logged again once it was granted in between', () => {
    const { own, logged } = world();
    own.denied('SQS: SendMessage', new Error('denied'));
    own.granted('SQS: SendMessage');
    own.denied('SQS: SendMessage', new Error('denied'));
    assert.equal(logged.length, 2);
  });

  test('is forgotten when a thousand others came after it', () => {
    const { own, logged } = world();
    for (let other = 0; other <= 1_000; other += 1) own.denied(`ssm: GetParameter ${other}`, 'denied');
    assert.deepEqual([own.isDenied('ssm: GetParameter 0'), own.isDenied('ssm: GetParameter 1000')], [false, true]);
    assert.equal(logged.length, 1_001);
  });
});

test('a target that status-sync may not serve is looked at again after a while', async () => {
  const clock = virtualClock();
  const denied = deniedTargets(clock);
  const target = { namespace: 'default', name: 'checkout' };
  denied.add(target);
  assert.deepEqual([denied.has(target), denied.has({ ...target, name: 'other' })], [true, false]);
  await clock.advance(deniedForMs);
  assert.equal(denied.has(target), false);
});
