/** What a connection reads ahead of the parser is bounded, whatever its client sends. */
import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { test } from 'node:test';
import { ClientStream } from '../../../functions/local/server/client-stream.ts';
import { turnsByHand } from '../../support/turns-by-hand.ts';

const quiet = () => new Promise((resolve) => setImmediate(resolve));
const readAheadMax = 16 * 1_024;
const request = `GET /healthz HTTP/1.1\r\nX: ${'a'.repeat(2_000)}\r\n\r\n`;

test('a client is read again once less than 16 KiB of what it has sent wait for the parser', async () => {
  const socket = new Duplex({ read: () => undefined, write: (_bytes, _encoding, done) => done() });
  const { slices, turn } = turnsByHand();
  const turns = { supervisors: slices, known: slices, newcomers: slices, strangers: slices };
  const stream = new ClientStream(socket as Socket, { turns, unread: new Map() });
  stream.on('data', () => undefined);
  await quiet();
  const requests = 12;
  socket.push(request.repeat(requests));
  await quiet();
  let waiting = requests * request.length;
  const seen = new Set<boolean>();
  for (let handedOn = 0; handedOn <= requests; handedOn += 1) {
    assert.equal(socket.isPaused(), waiting >= readAheadMax, `${waiting} bytes wait`);
    seen.add(socket.isPaused());
    turn();
    await quiet();
    waiting = Math.max(0, waiting - request.length);
  }
  assert.deepEqual([...seen], [true, false]);
  stream.destroy();
});
