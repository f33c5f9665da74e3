/** The bodies of a few requests are worked on at once, and each one in the end. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { BodyRoom } from '../../../functions/local/server/body-room.ts';
import { turnsByHand } from '../../support/turns-by-hand.ts';

const atOnce = 8;
const requests = Array.from({ length: 30 }, (_, at) => new Request(`http://a.test/${at}`));

/** A room whose turns come when they are run by hand. */
function roomByHand() {
  const { slices, settle: turn } = turnsByHand();
  const room = new BodyRoom(slices);
  const admitted: Request[] = [];
  const enter = (request: Request) => {
    void room.admit(request).then(() => admitted.push(request));
  };
  return { room, admitted, enter, turn };
}

describe('the room for bodies', () => {
  test('admits so many, and one more for each that leaves, in their order', async () => {
    const { room, admitted, enter, turn } = roomByHand();
    for (const request of requests) enter(request);
    await turn();
    assert.deepEqual(admitted, requests.slice(0, atOnce));
    for (let left = 0; left < requests.length; left += 1) {
      room.leave(requests[left] as Request);
      await turn();
      assert.deepEqual(admitted, requests.slice(0, Math.min(requests.length, atOnce + left + 1)));
    }
    const again = new Request('http://a.test/again');
    enter(again);
    await turn();
    assert.equal(admitted.at(-1), again, 'all places are free again');
  });

  test('gives no place for a request that had none', async () => {
    const { room, admitted, enter, turn } = roomByHand();
    for (const request of requests.slice(0, atOnce + 1)) enter(request);
    room.leave(new Request('http://a.test/without-body'));
    await turn();
    assert.equal(admitted.length, atOnce);
  });
});
