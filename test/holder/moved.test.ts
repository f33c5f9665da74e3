/** A shard that gets another range: its holder leaves only when a successor can come. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { generationAttribute } from '../../shared/store/records/items.ts';
import { layoutKey } from '../../shared/store/records/keys.ts';
import type { Item, Store } from '../../shared/store/store.ts';
import { healthy, probedWorld, shardWorld } from '../support/shard-world.ts';

/** A held shard whose layout is then written again, as by a schedule that dies before it sends a message. */
async function movedWorld() {
  const world = await probedWorld({ targets: 1 });
  const run = await world.hold();
  await world.clock.advance(10_000);
  const write = (set: { readonly [attribute: string]: number }) =>
    world.store.write([{ kind: 'update', key: layoutKey, set }], { token: crypto.randomUUID() });
  const version = Number((await world.store.get(layoutKey))?.version) + 1;
  await write({ version, [generationAttribute('00')]: version });
  let ended = false;
  void run.ended.then(() => {
    ended = true;
  });
  return { ...world, run, write, version, hasEnded: () => ended };
}

describe('the holder of a shard that has another generation', () => {
  test('stays while the messages of the new layout have not been sent', async () => {
    const { clock, hasEnded, run, answer } = await movedWorld();
    let probes = 0;
    answer(() => {
      probes += 1;
      return healthy;
    });
    await clock.advance(120_000);
    assert.equal(hasEnded(), false);
    assert.ok(probes >= 11, `${probes} probes in 120 s`);
    await run.stop();
  });

  test('leaves at its next beat once they have', async () => {
    const { clock, write, version, hasEnded, run } = await movedWorld();
    await clock.advance(30_000);
    await write({ announced: version - 1 });
    await clock.advance(10_000);
    assert.equal(hasEnded(), false, 'an older layout was announced');
    await write({ announced: version });
    await clock.advance(8_000);
    assert.equal(hasEnded(), true);
    assert.equal((await run.ended).kind, 'moved');
  });

  test('leaves a beat after that was said, whenever its own beat is: others whose shard becomes the same go then', async () => {
    for (const sinceBeatMs of [200, 2_400, 4_700]) {
      const { clock, write, version, hasEnded } = await movedWorld();
      await clock.advance(sinceBeatMs);
      await write({ announced: version, announcedAtMs: clock.nowMs() });
      await clock.advance(4_900);
      assert.equal(hasEnded(), false, `${sinceBeatMs} ms after its beat`);
      await clock.advance(600);
      assert.equal(hasEnded(), true, `${sinceBeatMs} ms after its beat`);
    }
  });

  test('waits for a beat at most where the clock of the schedule is fast', async () => {
    const { clock, write, version, hasEnded } = await movedWorld();
    await write({ announced: version, announcedAtMs: clock.nowMs() + 300_000 });
    await clock.advance(10_500);
    assert.equal(hasEnded(), true);
  });
});

/**
 * A shard whose generation has just become 2; reads still show the layout before, as those would that a region's
 * replica answers.
 */
async function justMovedWorld() {
  let old: Item | undefined;
  const lagging = (store: Store): Store => ({
    get: async (key, options) => (old && key.sk === layoutKey.sk ? old : store.get(key, options)),
    query: (query) => store.query(query),
    write: (operations, options) => store.write(operations, options),
  });
  const world = shardWorld({ wrapStore: lagging });
  await world.put('checkout', { readinessProbe: { tcpSocket: { port: 80 } } });
  await (await world.run()).stop();
  const version = Number((await world.store.get(layoutKey))?.version);
  const write = (set: { readonly [attribute: string]: number }) =>
    world.store.write([{ kind: 'update', key: layoutKey, set }], { token: crypto.randomUUID() });
  await write({ announced: version });
  const before = await world.store.get(layoutKey);
  await write({ version: version + 1, announced: version + 1, [generationAttribute('00')]: 2 });
  old = before;
  const run = await world.run({ generation: 2 });
  return {
    ...world,
    run,
    catchUp: () => {
      old = undefined;
    },
  };
}

test('a run that has just begun does not leave for a layout older than the one that it was claimed under', async () => {
  const { clock, run, probes, catchUp } = await justMovedWorld();
  await clock.advance(10_000);
  catchUp();
  const before = probes();
  await clock.advance(60_000);
  assert.equal(await Promise.race([run.ended.then(({ kind }) => kind), 'goes on']), 'goes on');
  assert.ok(probes() > before);
  await run.stop();
});
