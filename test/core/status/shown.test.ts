/** Of which probes in a spec the worker has ended. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ProbeRecord, TargetRecord } from '../../../shared/core/spec/records.ts';
import { hasEnded } from '../../../shared/core/status/shown.ts';

const kept = {} as TargetRecord;
const leaving = { deletionTimestampMs: 1 } as TargetRecord;
const recordOf = (probeType: string, specDigest: string, ended: boolean) =>
  ({ probeType, specDigest, ended }) as ProbeRecord;

for (const [what, target, record, ended] of [
  ['whose item cannot be read', kept, undefined, false],
  ['whose item cannot be read, of a target that leaves', leaving, undefined, false],
  ['that is made', kept, recordOf('readiness', 'a', false), false],
  ['that ended with its container', kept, recordOf('readiness', 'a', true), true],
  ['that left the spec and is back', kept, recordOf('readiness', '', true), false],
  ['for readiness, of a target that leaves', leaving, recordOf('readiness', 'a', false), false],
  ['for readiness, that ended with its target', leaving, recordOf('readiness', '', true), true],
  ['for liveness, of a target that leaves', leaving, recordOf('liveness', 'a', false), true],
  ['for startup, of a target that leaves', leaving, recordOf('startup', 'a', false), true],
] as const)
  test(`a probe ${what} has ${ended ? '' : 'not '}ended`, () => {
    assert.equal(hasEnded(target, record), ended);
  });
