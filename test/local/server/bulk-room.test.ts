/** Few requests with large bodies are under way at once, whatever their clients do. */
import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import type { ServerResponse } from 'node:http';
import { describe, test } from 'node:test';
import { BulkRoom } from '../../../functions/local/server/bulk-room.ts';
import type { ClientStream } from '../../../functions/local/server/client-stream.ts';
import { turnsByHand } from '../../support/turns-by-hand.ts';
import { virtualClock } from '../../support/virtual-clock.ts';

const atOnce = 4;

function room() {
  const clock = virtualClock();
  const unread = new Map<ClientStream, number>();
  const { slices, turn } = turnsByHand();
  const bulk = new BulkRoom({ turns: slices, unread, clock });
  const said: string[] = [];
  const enter = (name: string) => {
    const response = new EventEmitter() as unknown as ServerResponse;
    const client = {
      destroy: () => {
        said.push(`${name} destroyed`);
        response.emit('close');
      },
    } as unknown as ClientStream;
    const note = (what: string) => () => void said.push(`${name} ${what}`);
    bulk.enter({ client, response, begin: note('begins'), refuse: note('refused') });
    return { client, leave: () => response.emit('close') };
  };
  /** What has happened in the turns of the clients since it was last asked. */
  const happened = () => {
    while (turn());
    return said.splice(0);
  };
  return { clock, unread, enter, happened, turn, said };
}

/** With as many under way as there may be. */
function fullRoom() {
  const made = room();
  const first = Array.from({ length: atOnce }, (_, at) => made.enter(`first-${at}`));
  assert.equal(made.happened().length, atOnce);
  return { ...made, first };
}

describe('the room for large bodies', () => {
  test('begins four, and the one that has waited longest when one of them leaves', () => {
    const { first, enter, happened } = fullRoom();
    enter('a');
    enter('b');
    assert.deepEqual(happened(), []);
    first[2]?.leave();
    assert.deepEqual(happened(), ['a begins']);
    first[0]?.leave();
    assert.deepEqual(happened(), ['b begins']);
  });

  test('refuses what has waited for ten seconds, and nothing before', async () => {
    const { clock, enter, happened } = fullRoom();
    enter('a');
    await clock.advance(4_000);
    enter('b');
    await clock.advance(5_900);
    assert.deepEqual(happened(), []);
    await clock.advance(600);
    assert.deepEqual(happened(), ['a refused']);
    await clock.advance(4_000);
    assert.deepEqual(happened(), ['b refused']);
    await clock.advance(500);
    assert.equal(clock.pending(), 0, 'nothing looks at an empty line');
  });

  test('refuses one request after the other, each when it is the turn of the clients', async () => {
    const { clock, enter, happened, turn, said } = fullRoom();
    const names = Array.from({ length: 5 }, (_, at) => `a${at}`);
    for (const name of names) enter(name);
    happened();
    await clock.advance(10_500);
    assert.deepEqual(said, []);
    for (const name of names) {
      turn();
      assert.deepEqual(said.splice(0), [`${name} refused`]);
    }
  });

  test('does not begin what left while it waited', () => {
    const { first, enter, happened } = fullRoom();
    const a = enter('a');
    enter('b');
    a.leave();
    first[0]?.leave();
    assert.deepEqual(happened(), ['b begins']);
  });

  test('takes the place of a client that does not read its answer, once others wait', async () => {
    const { clock, first, unread, enter, happened } = fullRoom();
    const [silent, slow] = first;
    assert.ok(silent && slow);
    unread.set(silent.client, clock.monotonicMs());
    await clock.advance(5_000);
    assert.deepEqual(happened(), [], 'nothing waits');
    unread.set(slow.client, clock.monotonicMs());
    enter('a');
    enter('b');
    await clock.advance(500);
    assert.deepEqual(happened(), ['first-0 destroyed', 'a begins']);
    unread.delete(slow.client);
    await clock.advance(3_000);
    assert.deepEqual(happened(), [], 'it has read meanwhile');
  });
});
