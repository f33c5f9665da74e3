/** Record 64: a run that continues in the same process sets the EPOCH of a bucket with its first write there. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { ShardMemory } from '../../shared/holder/shard-run.ts';
import { epochKey, targetAddress } from '../../shared/store/records/keys.ts';
import { failing, healthy, probedWorld } from '../support/shard-world.ts';

const minuteMs = 60_000;
const [one, other] = ['target-1', 'target-2'] as const;

/** After a first run of a minute in a process with this memory. */
async function warmWorld() {
  const world = await probedWorld({ targets: 2, probe: { periodSeconds: 1, failureThreshold: 1 } });
  const memory: ShardMemory = new Map();
  const run = (slot: number, of = memory) =>
    world.run({ slot, slotEndMs: world.clock.nowMs() + minuteMs }, {}, { memory: of });
  const tokenIn = async (name: string) =>
    (await world.store.get(epochKey(targetAddress('default', name).bucket)))?.token;
  const first = await run(1);
  assert.deepEqual(await world.clock.runUntil(first.ended), { kind: 'slotDone' });
  return {
    ...world,
    runIn: run,
    tokens: async () => [await tokenIn(one), await tokenIn(other)],
    /** The first target fails from now on. */
    fail: () => world.answer((_, port) => (port === 1 ? failing : healthy)),
    resultOf: async (name: string) => (await world.probe(name, 'main#readiness')).result,
  };
}

describe('a warm run', () => {
  test('raises an epoch only where it writes, and with that write', async () => {
    const world = await warmWorld();
    const run = await world.runIn(2);
    await world.clock.advance(20_000);
    assert.deepEqual([(await world.runRecord()).token, await world.tokens()], [2, [1, 1]]);
    world.fail();
    await world.clock.advance(3_000);
    assert.deepEqual([await world.resultOf(one), await world.tokens()], ['failure', [2, 1]]);
    assert.deepEqual(await world.clock.runUntil(run.ended), { kind: 'slotDone' });
  });

  test('writes nothing in a bucket that another process has claimed meanwhile', async () => {
    const world = await warmWorld();
    const warm = await world.runIn(2);
    await world.clock.advance(1_000);
    const taken = await world.runIn(3, new Map());
    await world.until(
      'the other process has claimed',
      async () => (await world.tokens()).every((token) => token === 3),
      3,
    );
    world.fail();
    assert.deepEqual(await world.clock.runUntil(warm.ended), { kind: 'fenced' });
    await world.clock.advance(3_000);
    assert.deepEqual([await world.resultOf(one), await world.tokens()], ['failure', [3, 3]]);
    await taken.stop();
  });

  test('is followed by a cold one that claims everything, and by that it is a stranger', async () => {
    const world = await warmWorld();
    assert.deepEqual(await world.clock.runUntil((await world.runIn(2)).ended), { kind: 'slotDone' });
    assert.deepEqual(await world.clock.runUntil((await world.runIn(3, new Map())).ended), { kind: 'slotDone' });
    assert.deepEqual(await world.tokens(), [3, 3]);
    // The process of the first two runs has memory of an earlier token, so it claims all buckets too.
    assert.deepEqual(await world.clock.runUntil((await world.runIn(4)).ended), { kind: 'slotDone' });
    assert.deepEqual(await world.tokens(), [4, 4]);
  });
});
