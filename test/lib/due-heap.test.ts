import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Bag, type BagItem, inNoBag } from '../../shared/lib/bag.ts';
import { DueHeap, type HeapItem } from '../../shared/lib/heap.ts';
import { seededRandom } from '../support/seeded-random.ts';

test('a heap gives the earliest item, whatever was set, moved and deleted before', () => {
  const { next: random } = seededRandom(7);
  const heap = new DueHeap<HeapItem>();
  const items = Array.from({ length: 50 }, (): HeapItem => ({ dueMs: 0, heapPlace: -1 }));
  const present = new Set<HeapItem>();
  for (let step = 0; step < 20_000; step += 1) {
    const item = items[Math.floor(random() * items.length)] as HeapItem;
    if (random() < 0.6) {
      heap.set(item, Math.floor(random() * 100));
      present.add(item);
    } else {
      heap.delete(item);
      present.delete(item);
    }
    const earliest = Math.min(...[...present].map(({ dueMs }) => dueMs));
    assert.equal(heap.peek()?.dueMs ?? Number.POSITIVE_INFINITY, earliest);
  }
});

test('an item that another heap holds can be set in this one', () => {
  const [old, next] = [new DueHeap<HeapItem>(), new DueHeap<HeapItem>()];
  const [first, second] = [1, 2].map((): HeapItem => ({ dueMs: 0, heapPlace: -1 })) as [HeapItem, HeapItem];
  for (const item of [first, second]) old.set(item, 1);
  next.set(second, 5);
  next.delete(first);
  assert.equal(next.peek(), second);
});

test('a bag holds what was added and not deleted', () => {
  const { next: random } = seededRandom(7);
  const bag = new Bag<BagItem>();
  const present = new Set<BagItem>();
  for (let step = 0; step < 5_000; step += 1) {
    const [any] = [...present].slice(Math.floor(random() * present.size));
    if (any && random() < 0.5) {
      assert.equal(bag.delete(any), true);
      assert.equal(bag.delete(any), false);
      present.delete(any);
    } else {
      const item: BagItem = { bagPlace: inNoBag };
      bag.add(item);
      present.add(item);
    }
    assert.equal(bag.size, present.size);
  }
  assert.deepEqual(new Set(bag.items()), present);
});
