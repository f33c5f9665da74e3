/** What subscribers get of each event that kubelet records for a probe. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ProbeOutcome } from '../../../shared/core/spec/types.ts';
import { shardWorld } from '../../support/shard-world.ts';

for (const [outcome, detailTypes] of [
  ['failure', ['Container Unhealthy']],
  ['warning', ['Container Probe Warning']],
  ['success', []],
] as const satisfies readonly (readonly [ProbeOutcome, readonly string[]])[])
  test(`of an attempt that is a ${outcome}: ${detailTypes.join() || 'nothing'}`, async () => {
    const world = shardWorld();
    await world.put('one', { readinessProbe: { tcpSocket: { port: 1 }, periodSeconds: 10 } });
    world.answer(() => ({ outcome, output: 'what was found', timings: { totalMs: 1 } }));
    const run = await world.run();
    await world.clock.advance(5_000);
    const published = (['Container Unhealthy', 'Container Probe Warning'] as const).flatMap((detailType) =>
      world.publishedEvents(detailType).map(() => detailType),
    );
    assert.deepEqual([...new Set(published)], detailTypes);
    await run.stop();
  });
