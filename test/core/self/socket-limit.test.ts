import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { afterRefusal, risen, shortageOf, socketsMin } from '../../../shared/core/self/sockets.ts';

describe('a refusal lowers the limit to what is held, less an eighth and at least four', () => {
  for (const [before, held, after] of [
    [700, 400, 350],
    [700, 20, 16],
    [16, 400, 16],
    [700, 3, socketsMin],
    [700, 0, socketsMin],
    [5, 5, 5],
  ] as const)
    test(`${before} with ${held} held: ${after}`, () =>
      assert.deepEqual(afterRefusal({ max: before }, held, 1_000), { max: after, refusedAt: held, sinceMs: 1_000 }));
});

describe('without refusals the limit rises every ten seconds', () => {
  const low = { max: 64, refusedAt: 72, sinceMs: 1_000 };
  const maxAt = (nowMs: number, configuredMax = 700) => risen(low, configuredMax, nowMs).max;

  test('by a thirty-second up to what was held at the last refusal, and then by an eighth', () =>
    assert.deepEqual(
      [10_999, 11_000, 21_000, 31_000, 41_000, 51_000, 61_000].map((nowMs) => maxAt(nowMs)),
      [64, 66, 69, 72, 81, 92, 104],
    ));

  test('to what was configured, within minutes', () =>
    assert.deepEqual([maxAt(200_000), maxAt(240_000), maxAt(60_000, 70), maxAt(86_400_000)], [489, 700, 70, 700]));

  test('in steps that a later look continues', () => {
    const first = risen(low, 700, 15_000);
    assert.deepEqual(first, { max: 66, refusedAt: 72, sinceMs: 11_000 });
    assert.equal(risen(first, 700, 20_999), first);
    assert.equal(risen(first, 700, 31_000).max, maxAt(31_000));
  });
});

test('a shortage of the machine is told from what a target does', () => {
  assert.deepEqual(['EMFILE', 'ENFILE', 'ENOBUFS', 'ENOMEM'].map(shortageOf), Array(4).fill('sockets'));
  assert.deepEqual(['EADDRNOTAVAIL', 'EAGAIN'].map(shortageOf), ['other', 'other']);
  assert.deepEqual(['ECONNREFUSED', 'toString', undefined].map(shortageOf), Array(3).fill(undefined));
});
