/** What a verdict remembers of a probe that is not made. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { newProbeRecord } from '../../../shared/core/observed.ts';
import { newWorker } from '../../../shared/core/worker.ts';
import { leftAlone, newVerdict } from '../../../shared/run/probing/probe-verdict.ts';

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
