/** Which shards a worker shows, while their runs begin and end. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { heldShards, type Look } from '../../../functions/local/process/held-shards.ts';
import type { RunEnd } from '../../../shared/holder/run.ts';
import type { ShardMemory } from '../../../shared/holder/shard-run.ts';

const lookOf = (name: string): Look => (() => name) as unknown as Look;
const ends: readonly RunEnd[] = [
  { kind: 'slotDone' },
  { kind: 'handover' },
  { kind: 'asked' },
  { kind: 'fenced' },
  { kind: 'doubt', reason: 'a test' },
];
const remembering = (...shards: readonly string[]): ShardMemory =>
  new Map(shards.map((shard) => [shard, {}])) as unknown as ShardMemory;

describe('the shards of a worker', () => {
  for (const end of ends)
    test(`after ${end.kind} a shard is held no more, and shown only if its next slot is awaited`, () => {
      const shards = heldShards();
      const look = lookOf('first');
      shards.loaded('00', look);
      shards.ended('00', look, end);
      assert.equal(shards.views.size, 0);
      assert.equal(shards.shown().length, end.kind === 'slotDone' ? 1 : 0);
    });

  for (const end of ends)
    test(`a run that ends late (${end.kind}) takes nothing from its successor`, () => {
      const shards = heldShards();
      const [first, second] = [lookOf('first'), lookOf('second')];
      shards.loaded('00', first);
      shards.loaded('00', second);
      shards.ended('00', first, end);
      assert.equal(shards.views.get('00'), second);
      assert.deepEqual(shards.shown(), ['second']);
    });

  test('that it neither holds nor remembers are shown no more', () => {
    const shards = heldShards();
    for (const shard of ['00', '40', '80']) shards.loaded(shard, lookOf(shard));
    for (const shard of ['40', '80']) shards.ended(shard, shards.views.get(shard) as Look, { kind: 'slotDone' });
    shards.forget(remembering('80'));
    assert.deepEqual(shards.shown(), ['00', '80']);
  });
});
