import assert from 'node:assert/strict';
import { test } from 'node:test';
import { HeldTargets } from '../../shared/holder/held-targets.ts';
import type { HeldTarget } from '../../shared/holder/probing/worker.ts';
import { targetAddress } from '../../shared/store/records/keys.ts';

const heldAt = (name: string): HeldTarget => ({ address: targetAddress('default', name) }) as HeldTarget;

test('a range has the target that is held now, and none that it has replaced or that is gone', () => {
  const targets = new HeldTargets();
  const [before, after] = [heldAt('checkout'), heldAt('checkout')];
  const { prefix, bucket, slice } = after.address;
  targets.set(prefix, before);
  targets.set(prefix, after);
  for (const range of [{ bucket }, { bucket, slice }]) {
    const [found, ...more] = targets.within(range);
    assert.ok(found === after && more.length === 0);
  }
  targets.delete(prefix);
  assert.deepEqual(targets.within({ bucket }), []);
});
