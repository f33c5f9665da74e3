/** What is sent on a connection whose request is refused: one answer, whatever else arrives. */
import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import type { Server } from 'node:http';
import { Duplex } from 'node:stream';
import { test } from 'node:test';
import { refuseBrokenRequests } from '../../../functions/local/server/refused-requests.ts';
import { turnsByHand } from '../../support/turns-by-hand.ts';

/** As a slow connection, whose client has not read the answer yet. */
const slowSocket = (written: (chunk: string) => void): Duplex =>
  new Duplex({
    read: () => undefined,
    write(chunk, _, done) {
      written(`${chunk}`);
      setTimeout(done, 20);
    },
  });

test('requests that were late together are answered in the turns of the clients', () => {
  const server = new EventEmitter();
  const { slices, turn } = turnsByHand();
  refuseBrokenRequests(server as Server, slices);
  const answers: string[] = [];
  const sockets = Array.from({ length: 20 }, () => slowSocket((chunk) => answers.push(chunk)));
  // As Node does once in a while, for all connections in one turn of the event loop.
  for (const socket of sockets)
    server.emit('clientError', Object.assign(new Error(''), { code: 'ERR_HTTP_REQUEST_TIMEOUT' }), socket);
  assert.equal(answers.length, 0);
  turn();
  assert.equal(answers.filter((answer) => answer.startsWith('HTTP/1.1 408 ')).length, sockets.length);
  for (const socket of sockets) socket.destroy();
});

test('data behind a broken request neither repeats the answer nor cuts it off', async () => {
  const server = new EventEmitter();
  refuseBrokenRequests(server as Server, turnsByHand().slices);
  let written = '';
  const socket = slowSocket((chunk) => {
    written += chunk;
  });
  const broken = Object.assign(new Error('Parse Error'), { code: 'HPE_INVALID_METHOD' });
  for (let at = 0; at < 3; at += 1) server.emit('clientError', broken, socket);
  assert.equal(socket.destroyed, false);
  await new Promise((resolve) => socket.once('finish', resolve));
  assert.equal(written.match(/HTTP\/1\.1 400 /g)?.length, 1);
  socket.destroy();
});
