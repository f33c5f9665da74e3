/** How many answers are made at once, and that each of the others is made in the end. */
import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { test } from 'node:test';
import { AnswerRoom } from '../../../functions/local/server/answer-room.ts';
import type { ClientStream } from '../../../functions/local/server/client-stream.ts';
import { mib } from '../../support/process-memory.ts';
import { turnsByHand } from '../../support/turns-by-hand.ts';
import { virtualClock } from '../../support/virtual-clock.ts';

const atOnce = 4;

test('four answers are made at once, and one more for each that is made', async () => {
  const { slices, settle } = turnsByHand();
  const made: (() => void)[] = [];
  const clock = { monotonicMs: () => 0, setTimer: () => () => undefined };
  const room = new AnswerRoom({ turns: slices, unread: new Map(), clock });
  const asked = 2 * atOnce;
  for (let at = 0; at < asked; at += 1)
    room.enter(new EventEmitter(), () => new Promise((resolve) => made.push(resolve)));
  await settle();
  for (let done = 0; done < asked; done += 1) {
    assert.equal(made.length, Math.min(asked, atOnce + done));
    made[done]?.();
    await settle();
  }
});

test('the answer to a client that has gone is not made', async () => {
  const { slices, settle } = turnsByHand();
  const clock = { monotonicMs: () => 0, setTimer: () => () => undefined };
  const room = new AnswerRoom({ turns: slices, unread: new Map(), clock });
  const responses = Array.from({ length: atOnce + 3 }, () => new EventEmitter());
  const made: number[] = [];
  for (const [at, response] of responses.entries())
    room.enter(response, () => {
      made.push(at);
      return new Promise(() => undefined);
    });
  responses[atOnce]?.emit('close');
  for (const response of responses.slice(0, atOnce)) room.made(response);
  await settle();
  assert.deepEqual(made.slice(atOnce), [atOnce + 1, atOnce + 2]);
});

test('clients that do not read are disconnected one by one, as many as it takes', async () => {
  const { slices, turn, settle } = turnsByHand();
  const clock = virtualClock();
  const unread = new Map<ClientStream, number>();
  const gone: number[] = [];
  for (let at = 0; at < 5; at += 1) {
    const client = {
      writableLength: 6 * mib,
      destroy: () => {
        unread.delete(client);
        gone.push(at);
      },
    } as unknown as ClientStream;
    unread.set(client, clock.monotonicMs());
  }
  const room = new AnswerRoom({ turns: slices, unread, clock });
  let isMade = false;
  room.enter(new EventEmitter(), async () => {
    isMade = true;
  });
  await clock.advance(2_900);
  await settle();
  assert.deepEqual(gone, [], 'they have time to read');
  await clock.advance(600);
  assert.deepEqual(gone, [], 'it is not the turn of the clients');
  for (const expected of [[0], [0, 1], [0, 1, 2]]) {
    turn();
    assert.deepEqual(gone, expected);
  }
  await settle();
  assert.deepEqual(gone, [0, 1, 2], 'the others fit');
  assert.equal(isMade, true);
});
