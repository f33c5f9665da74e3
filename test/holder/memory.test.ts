import assert from 'node:assert/strict';
import { test } from 'node:test';
import { HeldTargets } from '../../shared/holder/held-targets.ts';
import type { HeldTarget } from '../../shared/holder/probing/worker.ts';
import { forgetOld, type Kept, removeSeries, type ShardMemory } from '../../shared/holder/shard-run.ts';
import type { ProbeMetricLabels } from '../../shared/prober/metrics.ts';
import { targetAddress } from '../../shared/store/records/keys.ts';

/** Of a shard with one probe, of the pod of this name. */
function keptOf(pod: string, keptAtMs: number): Kept {
  const address = targetAddress('default', pod);
  const held = { address, workers: new Map([['app#readiness', { labels: { pod } }]]) } as unknown as HeldTarget;
  const targets = new HeldTargets().set(address.prefix, held);
  return { token: 1, generation: 1, targets, loaded: undefined, wallOffsetMs: 0, keptAtMs };
}

test('a shard whose next run has not come within 150 s is forgotten, with the metric series of its workers', () => {
  const removed: string[] = [];
  const metrics = { observe: () => undefined, remove: ({ pod }: ProbeMetricLabels) => void removed.push(pod) };
  const memory: ShardMemory = new Map([
    ['00', keptOf('left', 0)],
    ['80', keptOf('expected', 60_000)],
  ]);
  forgetOld(memory, metrics, 149_000);
  assert.deepEqual([[...memory.keys()], removed], [['00', '80'], []]);
  forgetOld(memory, metrics, 151_000);
  assert.deepEqual([[...memory.keys()], removed], [['80'], ['left']]);
});

test('of workers that have ended, those that are held again keep their series', () => {
  const removed: string[] = [];
  const metrics = { observe: () => undefined, remove: ({ pod }: ProbeMetricLabels) => void removed.push(pod) };
  const heldOf = (...pods: readonly string[]) =>
    pods.reduce((all, pod) => {
      for (const [prefix, held] of keptOf(pod, 0).targets.entries()) all.set(prefix, held);
      return all;
    }, new HeldTargets());
  removeSeries(metrics, heldOf('a', 'b', 'c'), heldOf('b'));
  assert.deepEqual(removed, ['a', 'c']);
});
