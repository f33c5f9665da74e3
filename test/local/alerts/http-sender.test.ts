/** Alerts by HTTP, to a real server: the connection is kept, unless what is answered has no end. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type TestContext, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { httpSender } from '../../../functions/local/alerts/http-sender.ts';
import { testNotifications } from '../../../shared/alerts/notification-text.ts';
import { systemClock } from '../../../shared/lib/clock.ts';
import { startMs } from '../../api/world.ts';

const [firing] = testNotifications('r', 'test-1', startMs);

/** How many connections two notifications, one after the other, take. */
async function connectionsOf(t: TestContext, respond: (response: ServerResponse) => void): Promise<number> {
  let connections = 0;
  const server = createServer((request, response) => {
    request.resume();
    respond(response);
  });
  server.on('connection', () => {
    connections += 1;
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { send, close } = httpSender(systemClock);
  t.after(async () => {
    await close();
    server.closeAllConnections();
    server.close();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  for (let sent = 0; sent < 2; sent += 1) {
    const signal = AbortSignal.timeout(5_000);
    const outcome = await send(firing, { kind: 'webhook', name: 'r', url }, signal);
    assert.equal(outcome.kind, 'delivered', JSON.stringify(outcome));
    // The next notification comes seconds later.
    await wait(100);
  }
  return connections;
}

test('an answer in several pieces is read, so its connection is used again', async (t) => {
  const inPieces = async (response: ServerResponse) => {
    for (const piece of ['ta', 'k', 'en']) {
      response.write(piece);
      await wait(20);
    }
    response.end();
  };
  assert.equal(await connectionsOf(t, (response) => void inPieces(response)), 1);
});

test('an answer without an end is not read to its end, and its connection is closed', async (t) => {
  const endless = (response: ServerResponse) => {
    const more = () => {
      while (!response.destroyed && response.write('a'.repeat(16_384)));
    };
    response.on('drain', more);
    more();
  };
  assert.equal(await connectionsOf(t, endless), 2);
});
