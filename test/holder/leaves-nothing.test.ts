/** A run that fails leaves nothing pending either: Lambda freezes the process when the run returns. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { lastBeat } from '../../shared/core/shards/beat.ts';
import { sleep } from '../../shared/lib/clock.ts';
import { type Operation, StoreUnavailable } from '../../shared/store/store.ts';
import { shardWorld } from '../support/shard-world.ts';

/** A beat is written every 5 s, and LAYOUT is read after it. */
const [betweenBeatsMs, slowMs] = [6_000, 3_000];

const claimsBucket = (operation: Operation) => operation.kind === 'update' && operation.key.sk === 'EPOCH';
const isLastBeat = (operation: Operation) => operation.kind === 'update' && operation.set?.beat === lastBeat;

for (const [what, isFailing, afterMs] of [
  ['load', claimsBucket, betweenBeatsMs],
  ['last beat', isLastBeat, 0],
] as const)
  test(`a run whose ${what} fails returns once its read of LAYOUT is over`, async () => {
    let isHeld = false;
    let open = 0;
    const world = shardWorld({
      wrapStore: (store) => ({
        ...store,
        async get(key, options) {
          if (!isHeld || key.sk !== 'LAYOUT') return store.get(key, options);
          open += 1;
          await sleep(world.clock, slowMs);
          open -= 1;
          return store.get(key, options);
        },
        async write(operations, options) {
          if (!isHeld || !operations.some(isFailing)) return store.write(operations, options);
          await sleep(world.clock, afterMs);
          throw new StoreUnavailable('simulated');
        },
      }),
    });
    await world.put('checkout', { readinessProbe: { tcpSocket: { port: 80 } } });
    await (await world.run()).stop();
    isHeld = true;
    const run = await world.run();
    await world.clock.advance(betweenBeatsMs);
    const end = await run.stop();
    assert.deepEqual([end.kind, open], ['doubt', 0]);
  });
