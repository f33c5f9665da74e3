/** How many answers are made at once, and that each of the others is made in the end. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { withAnswerRoom } from '../../functions/local/answer-room.ts';
import { turnsByHand } from '../support/turns-by-hand.ts';

const atOnce = 8;

test('eight answers are made at once, and one more for each that is made', async () => {
  const { slices, settle } = turnsByHand();
  const made: (() => void)[] = [];
  const fetch = () => new Promise<Response>((resolve) => made.push(() => resolve(new Response())));
  const clock = { monotonicMs: () => 0, setTimer: () => () => undefined };
  const answer = withAnswerRoom(fetch, { turns: slices, unread: new Map(), clock });
  const asked = 2 * atOnce;
  const answers = Array.from({ length: asked }, () => answer(new Request('http://probelet.test/v1/targets')));
  await settle();
  for (let done = 0; done < asked; done += 1) {
    assert.equal(made.length, Math.min(asked, atOnce + done));
    made[done]?.();
    await settle();
  }
  await Promise.all(answers);
});
