/** How many answers are made at once, and that each of the others is made in the end. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { withAnswerRoom } from '../../functions/local/answer-room.ts';
import type { Slices, Work } from '../../shared/lib/slices.ts';

const atOnce = 8;

test('eight answers are made at once, and one more for each that is made', async () => {
  const turns = new Set<Work>();
  const slices: Slices = { add: (work) => void turns.add(work), pause: () => Promise.resolve() };
  const made: (() => void)[] = [];
  const fetch = () => new Promise<Response>((resolve) => made.push(() => resolve(new Response())));
  const clock = { monotonicMs: () => 0, setTimer: () => () => undefined };
  const answer = withAnswerRoom(fetch, { turns: slices, unread: new Map(), clock });
  const quiet = async () => {
    await new Promise(setImmediate);
    for (let runs = 0; turns.size > 0 && runs < 100; runs += 1)
      for (const work of turns) if (!work()) turns.delete(work);
    await new Promise(setImmediate);
  };
  const asked = 2 * atOnce;
  const answers = Array.from({ length: asked }, () => answer(new Request('http://probelet.test/v1/targets')));
  await quiet();
  for (let done = 0; done < asked; done += 1) {
    assert.equal(made.length, Math.min(asked, atOnce + done));
    made[done]?.();
    await quiet();
  }
  await Promise.all(answers);
});
