/** What is known of a bucket whose EPOCH is of an earlier generation than RUN. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { observedFor, pastOf, type RunRecord } from '../../shared/store/records/shard-records.ts';

const run: RunRecord = {
  ...{ token: 9, generation: 3, slot: 1, doneSlot: 0, beat: 1, beatAtMs: 5_000, observedAtMs: 4_000 },
  degraded: true,
};

test('the last run is remembered by its most overdue probe, and by what subscribers know of it', () => {
  const past = { sinceToken: 0, observedAtMs: 4_000, tick: false, degraded: true, degradedTold: true };
  assert.deepEqual(pastOf(run), { ...past, overloaded: false, overloadedTold: false });
  const behind = { a: 3_000, b: 3_500 };
  const told = { sinceToken: 7, behind, tick: true, degradedTold: false, overloaded: true, overloadedTold: false };
  assert.deepEqual(pastOf({ ...run, ...told }), {
    ...{ sinceToken: 7, observedAtMs: 3_000, tick: true, degraded: true, degradedTold: false },
    ...{ overloaded: true, overloadedTold: false },
  });
  assert.equal(pastOf({ ...run, overloaded: true }).overloadedTold, true);
  assert.equal(pastOf(undefined).degraded, false);
});

test('a bucket is shown by the run that covers its token, the one before, or none', () => {
  const previous = pastOf({ ...run, sinceToken: 4 });
  const now = { ...run, sinceToken: 8, previous };
  const shown = [3, 4, 7, 8, 9].map((token) => observedFor({ token }, now));
  assert.deepEqual(shown, [undefined, previous, previous, now, now]);
  assert.equal(observedFor({ token: 7 }, { ...run, sinceToken: 8 }), undefined);
  assert.equal(observedFor({ token: 1 }, run), run);
});
