/** When a probe was last done, as its worker remembers it. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { HangRecord } from '../../../shared/core/spec/records.ts';
import { newSocketBudget } from '../../../shared/holder/probing/sockets.ts';
import type { TimedAttempt } from '../../../shared/prober/probe.ts';
import { bareHolder } from '../../support/bare-holder.ts';
import { heldTargetOf, workerOf } from '../../support/held-workers.ts';
import { shardWorld } from '../../support/shard-world.ts';

describe('a probe in quarantine', () => {
  for (const [agoMs, seen] of [
    [3_000, 'since it hung, though its holder has just begun'],
    [-3_000, 'since it was last done, if that was before'],
  ] as const)
    test(`has no result ${seen}`, async () => {
      const world = shardWorld();
      await world.put('checkout', { readinessProbe: { tcpSocket: { port: 1 }, periodSeconds: 10 } });
      const { holder, hold } = bareHolder(world);
      const held = await hold('checkout');
      const worker = held.workers.get('main#readiness');
      assert.ok(worker);
      const cycle = () => world.clock.runUntil(worker.cycle(holder, newSocketBudget(world.clock).take('new', 1)));
      assert.equal(await cycle(), 'again', 'the container is new');
      const { uid, generation } = held.target;
      const seenAtMs = worker.seenAtMs;
      const hungAtMs = seenAtMs - agoMs;
      const hang: HangRecord = { uid, generation, version: 1, hungAtMs, hangs: { 'main#readiness': 2 } };
      held.hang = hang;
      assert.equal(await cycle(), 'over');
      assert.deepEqual([worker.seenAtMs, worker.isVoid], [Math.min(seenAtMs, hungAtMs), true]);
      assert.equal(world.probes(), 0);
    });
});

for (const [before, after] of [
  [1_000, 5_000],
  [5_000, 1_000],
] as const)
  test(`a probe that was seen at ${before} and is read again with ${after} is as overdue as before`, () => {
    const held = heldTargetOf();
    const worker = workerOf(held, 'app', undefined, {}, after);
    worker.keepSeen(workerOf(held, 'app', undefined, {}, before));
    assert.equal(worker.seenAtMs, 1_000);
  });

test('a probe that was tried again was made when it was tried last', () => {
  const worker = workerOf(heldTargetOf());
  const attempts: readonly TimedAttempt[] = [3_000, 3_500].map((timeMs) => ({
    timeMs,
    outcome: 'failure',
    output: '',
    timings: { totalMs: 1 },
  }));
  worker.take({ conclusion: { kind: 'result', result: 'failure' }, attempts }, 4_000);
  assert.deepEqual([worker.triedAtMs, worker.seenAtMs], [3_500, 4_000]);
});
