import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ProbeRecord } from '../../../shared/core/spec/records.ts';
import type { Result } from '../../../shared/core/spec/types.ts';
import { newProbeRecord } from '../../../shared/core/status/observed.ts';
import { transitionEvent } from '../../../shared/holder/probing/events.ts';
import { endedRecord, withAction } from '../../../shared/holder/probing/step-plan.ts';

const added = newProbeRecord('u1', { container: { kind: 'container', spec: { name: 'app' } }, probeType: 'readiness' });
const withResult = (record: ProbeRecord, result: Result) =>
  withAction(record, { kind: 'set', containerID: 'test://1', result }, 1_000);

const failed = withResult(added, 'failure');
const succeeded = withResult(failed, 'success');

for (const [what, before, after, type, change] of [
  ['the first failure', added, failed, 'Normal', 'failure'],
  ['a later failure', succeeded, withResult(succeeded, 'failure'), 'Warning', 'success -> failure'],
  ['a success', failed, succeeded, 'Normal', 'failure -> success'],
  ['the end of a worker', succeeded, endedRecord(succeeded, '', false, 2_000), 'Normal', 'success -> none'],
] as const)
  test(`the event of ${what} says what the result was and is`, () => {
    const { message, type: actual } = transitionEvent(before, after, []);
    assert.deepEqual([actual, message], [type, `readiness of app: ${change}`]);
  });
