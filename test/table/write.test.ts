import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type Refusal, StoreDenied, StoreUnavailable, type WriteOutcome } from '../../shared/store/store.ts';
import { writeSurely } from '../../shared/table/write.ts';
import { shardWorld } from '../support/shard-world.ts';

const written: WriteOutcome = { kind: 'written' };
const refused = (...kinds: readonly Refusal['kind'][]): WriteOutcome => ({
  kind: 'refused',
  refusals: kinds.map((kind, index) => ({ index, kind })),
});
const conflict = refused('conflict');

/** How a write ends at a store that answers like this, the last answer again and again, and when it was tried. */
async function writeTo(...answers: readonly (WriteOutcome | 'unavailable' | Error)[]) {
  const triedAtMs: number[] = [];
  const world = shardWorld();
  const { clock } = world;
  const ports = world.ports();
  const write = async (): Promise<WriteOutcome> => {
    const answer = answers[Math.min(triedAtMs.length, answers.length - 1)] ?? written;
    triedAtMs.push(clock.monotonicMs());
    if (answer instanceof Error) throw answer;
    if (answer === 'unavailable') throw new StoreUnavailable('for a while');
    return answer;
  };
  // In the middle of the jitter, which is half of the wait in either direction.
  const random = { ...ports.random, next: () => 0.5 };
  const outcome = await clock.runUntil(
    writeSurely({ ...ports, random, store: { ...ports.store, write } }, []).catch((error: unknown) => error),
  );
  return { outcome, triedAtMs };
}

const fiveTries = [0, 100, 300, 700, 1_500];

describe('a write', () => {
  for (const [what, answer] of [
    ['meets another one', conflict],
    ['finds the store out of reach', 'unavailable'],
  ] as const)
    test(`that ${what} is tried five times, with waits that double`, async () => {
      const { outcome, triedAtMs } = await writeTo(answer, answer, answer, answer, written);
      assert.deepEqual([outcome, triedAtMs], [written, fiveTries]);
    });

  test('that still meets another one then is refused', async () => {
    assert.deepEqual(await writeTo(conflict), { outcome: conflict, triedAtMs: fiveTries });
  });

  test('that finds the store out of reach to the end says so', async () => {
    const { outcome, triedAtMs } = await writeTo('unavailable');
    assert.ok(outcome instanceof StoreUnavailable);
    assert.deepEqual(triedAtMs, fiveTries);
  });

  test('whose condition does not hold is not tried again, be there a conflict beside it', async () => {
    const answer = refused('conflict', 'condition');
    assert.deepEqual(await writeTo(answer), { outcome: answer, triedAtMs: [0] });
  });

  for (const [what, error] of [
    ['may not be made', new StoreDenied('not allowed')],
    ['meets a defect', new TypeError('a defect')],
  ] as const)
    test(`that ${what} is not tried again`, async () => {
      assert.deepEqual(await writeTo(error), { outcome: error, triedAtMs: [0] });
    });
});
