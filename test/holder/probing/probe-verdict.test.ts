/** What a verdict remembers of a probe that is not made. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { newWorker } from '../../../shared/core/kubelet/worker.ts';
import { newProbeRecord } from '../../../shared/core/status/observed.ts';
import { keepSeen, leftAlone, newVerdict, took } from '../../../shared/holder/probing/probe-verdict.ts';

const probe = { container: { kind: 'container', spec: { name: 'app' } }, probeType: 'readiness' } as const;
const verdictSeenAt = (seenAtMs: number) => newVerdict(newProbeRecord('u1', probe), newWorker, seenAtMs);

describe('a probe in quarantine', () => {
  for (const [seenAtMs, hungAtMs, wantedMs, when] of [
    [5_000, 3_000, 3_000, 'since it hung, though its holder has just begun'],
    [1_000, 3_000, 1_000, 'since its last verdict, if that was before'],
  ] as const)
    test(`has no verdict ${when}`, () => {
      const verdict = verdictSeenAt(seenAtMs);
      leftAlone(verdict, hungAtMs);
      assert.deepEqual([verdict.seenAtMs, verdict.isVoid, verdict.erred], [wantedMs, true, true]);
    });
});

for (const [before, after] of [
  [1_000, 5_000],
  [5_000, 1_000],
] as const)
  test(`a probe that was seen at ${before} and is read again with ${after} is as overdue as before`, () => {
    const verdict = verdictSeenAt(after);
    keepSeen(verdict, verdictSeenAt(before));
    assert.equal(verdict.seenAtMs, 1_000);
  });

test('a probe that was tried again was made when it was tried last', () => {
  const verdict = verdictSeenAt(1_000);
  const attempts = [3_000, 3_500].map((timeMs) => ({
    timeMs,
    outcome: 'failure',
    output: '',
    timings: { totalMs: 1 },
  }));
  const report = { conclusion: { kind: 'result', result: 'failure' }, attempts } as unknown as Parameters<
    typeof took
  >[1];
  took(verdict, report, 4_000);
  assert.deepEqual([verdict.triedAtMs, verdict.seenAtMs], [3_500, 4_000]);
});
