/** What is sent on a connection whose request is refused: one answer, whatever else arrives. */
import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import type { Server } from 'node:http';
import { Duplex } from 'node:stream';
import { test } from 'node:test';
import { refuseBrokenRequests } from '../../functions/local/refused-requests.ts';

test('data behind a broken request neither repeats the answer nor cuts it off', async () => {
  const server = new EventEmitter();
  refuseBrokenRequests(server as Server);
  let written = '';
  const socket = new Duplex({
    read: () => undefined,
    write(chunk, _, done) {
      written += chunk;
      // As over a slow connection, whose client has not read the answer yet.
      setTimeout(done, 20);
    },
  });
  const broken = Object.assign(new Error('Parse Error'), { code: 'HPE_INVALID_METHOD' });
  for (let at = 0; at < 3; at += 1) server.emit('clientError', broken, socket);
  assert.equal(socket.destroyed, false);
  await new Promise((resolve) => socket.once('finish', resolve));
  assert.equal(written.match(/HTTP\/1\.1 400 /g)?.length, 1);
  socket.destroy();
});
