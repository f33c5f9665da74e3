/** What a beat confirms, and what it does not. */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { lastBeat } from '../../shared/core/shards/beat.ts';
import { sleep } from '../../shared/lib/clock.ts';
import { runKey } from '../../shared/store/records/keys.ts';
import { type Operation, type Store, StoreThrottled, type WriteOutcome } from '../../shared/store/store.ts';
import { heldWorld as held, type ShardWorld, shardWorld } from '../support/shard-world.ts';
import { beforeWrite } from '../support/store-wraps.ts';

const isBeat = ([operation]: readonly Operation[]): boolean =>
  operation?.kind === 'update' && operation.key.pk === runKey('00').pk && operation.set?.beat !== 0;

/** A held shard whose beats have this outcome from then on, written or not. */
async function heldWorld(outcome: WriteOutcome, isApplied: boolean) {
  let isFaulty = false;
  let beats = 0;
  const faulty = (store: Store) =>
    beforeWrite(async (operations, options) => {
      if (!isFaulty || !isBeat(operations)) return undefined;
      beats += 1;
      if (isApplied) await store.write(operations, options);
      return outcome;
    })(store);
  const spec = { readinessProbe: { tcpSocket: { port: 80 } } };
  const { world, run } = await held({ checkout: spec }, 6_000, { wrapStore: faulty });
  isFaulty = true;
  return {
    world,
    run,
    beats: () => beats,
    mend: () => {
      isFaulty = false;
    },
  };
}

const conflict: WriteOutcome = { kind: 'refused', refusals: [{ index: 0, kind: 'conflict' }] };
const unknown: readonly (readonly [name: string, outcome: WriteOutcome, isApplied: boolean])[] = [
  ['in doubt, though written', { kind: 'inDoubt' }, true],
  ['in doubt and not written', { kind: 'inDoubt' }, false],
  ['in conflict', conflict, false],
];

for (const [name, outcome, isApplied] of unknown)
  describe(`a beat ${name}`, () => {
    test('confirms nothing: 12 s after the last that did the run ends in doubt', async () => {
      const { world, run, beats } = await heldWorld(outcome, isApplied);
      await world.clock.advance(15_000);
      assert.deepEqual(await Promise.race([run.ended, 'goes on']), {
        kind: 'doubt',
        reason: 'no successful beat for 12 s',
      });
      assert.ok(beats() > 2, `tried ${beats()} times`);
    });

    test('is tried again soon, and the run continues', async () => {
      const { world, run, mend } = await heldWorld(outcome, isApplied);
      await world.clock.advance(7_000);
      mend();
      await world.clock.advance(60_000);
      assert.equal((await run.stop()).kind, 'handover');
    });
  });

test('a beat finds the moments in which the table has capacity, and holds the shard by them', async () => {
  let isScarce = false;
  const inMoments = beforeWrite(async (operations) => {
    if (isScarce && isBeat(operations) && world.clock.monotonicMs() % 3_000 > 200) throw new StoreThrottled('no units');
    return undefined;
  });
  const world: ShardWorld = shardWorld({ wrapStore: inMoments });
  const run = await world.run({ slotEndMs: world.clock.nowMs() + 3_600_000 });
  isScarce = true;
  await world.clock.advance(600_000);
  assert.equal(await Promise.race([run.ended, 'goes on']), 'goes on');
  isScarce = false;
  await run.stop();
});

test('no beat follows the last one, whenever within the interval of two the slot ends', async () => {
  const writeMs = 100;
  const lasts: unknown[] = [];
  for (let heldMs = 5_000; heldMs < 10_500; heldMs += writeMs) {
    const slow = beforeWrite(async (operations) => {
      if (isBeat(operations)) await sleep(world.clock, writeMs);
      return undefined;
    });
    const world: ShardWorld = shardWorld({ wrapStore: slow });
    const run = await world.run({ slotEndMs: world.clock.nowMs() + heldMs });
    await world.clock.runUntil(run.ended);
    lasts.push((await world.store.get(runKey('00')))?.beat);
  }
  assert.deepEqual([...new Set(lasts)], [lastBeat]);
});
