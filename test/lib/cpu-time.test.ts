import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemCpuMs, waitedMsOf } from '../../shared/lib/cpu-time.ts';

test('the CPU time of this process grows with its work', () => {
  const before = systemCpuMs();
  for (const startMs = performance.now(); performance.now() - startMs < 50; );
  assert.ok(systemCpuMs() > before);
});

test('the time that a process waits for a core is the second number of schedstat, in ns', () => {
  assert.equal(waitedMsOf('1234567 250000000 17\n'), 250);
});

for (const text of ['', '17', 'no statistics'])
  test(`a system that says "${text}" counts as one without waits`, () => assert.equal(waitedMsOf(text), 0));
