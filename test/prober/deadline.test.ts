import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createConnection } from 'node:net';
import { test } from 'node:test';
import { systemClock } from '../../shared/lib/clock.ts';
import { startDeadline } from '../../shared/prober/deadline.ts';
import { stand } from '../support/stand.ts';
import { portOf, startTcpServer } from '../support/tcp-server.ts';

test('what arrived while the event loop was busy comes before the end of a time-out', async (t) => {
  const port = await portOf(t, startTcpServer('accept-silent', '127.0.0.1'));
  const deadline = startDeadline(systemClock, 20);
  const socket = createConnection({ port, host: '127.0.0.1' });
  t.after(() => socket.destroy());
  const order: string[] = [];
  const over = new Promise<void>((resolve) => {
    deadline.whenOver(() => {
      order.push('over');
      resolve();
    });
  });
  const connected = once(socket, 'connect').then(() => order.push('connected'));
  stand(100);
  await Promise.all([over, connected]);
  assert.deepEqual(order, ['connected', 'over']);
  assert.equal(deadline.isOver(), true);
});
