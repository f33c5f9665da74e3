import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mostPerSecond } from './herd.ts';

const evenly = Array.from({ length: 500 }, (_, at) => at * 20);

test('probes that come evenly are counted by the second', () => {
  assert.equal(mostPerSecond(evenly, []), 50);
});

test('probes that come at once are a herd, however evenly the others come', () => {
  const herd = Array.from({ length: 400 }, () => 4_005);
  assert.equal(mostPerSecond([...evenly, ...herd], []), 450);
});

test('what was due while the machine ran something else is no herd', () => {
  const held = evenly.map((atMs) => (atMs > 3_000 && atMs < 4_500 ? 4_500 : atMs));
  assert.ok(mostPerSecond(held, []) > 100);
  const rate = mostPerSecond(held, [{ fromMs: 3_000, toMs: 4_500, lostMs: 1_500 }]);
  assert.ok(rate <= 50, `${rate}`);
});

test('time that was lost long before, or afterwards, excuses nothing', () => {
  const herd = [...evenly, ...Array.from({ length: 400 }, () => 6_005)];
  const lost = [
    { fromMs: 1_000, toMs: 3_000, lostMs: 2_000 },
    { fromMs: 8_000, toMs: 9_000, lostMs: 1_000 },
  ];
  assert.equal(mostPerSecond(herd, lost), 450);
});
