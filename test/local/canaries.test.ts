import assert from 'node:assert/strict';
import { test } from 'node:test';
import { localCanaries } from '../../functions/local/canaries.ts';
import { sleep, systemClock } from '../../shared/lib/clock.ts';
import { startTcpServer } from '../support/tcp-server.ts';

const host = '127.0.0.1';
const resolve = async (name: string) => ({ kind: 'resolved' as const, addresses: [name] });

/** What is there once it has had the time to turn up. */
async function listed(canaries: ReturnType<typeof localCanaries>, count: number) {
  for (let turn = 0; turn < 200 && canaries.list.length < count; turn += 1) await sleep(systemClock, 10);
  return canaries.list.map(({ port }) => port);
}

test('a machine’s canaries are a listener of its own, and those on its way out that answer', async (t) => {
  const [open, closed] = [await startTcpServer('accept-close', host), await startTcpServer('closed', host)];
  t.after(() => Promise.all([open.close(), closed.close()]));
  const wayOut = [open, closed].map(({ port }) => ({ host, port }));
  const canaries = localCanaries({ clock: systemClock, resolve, wayOut });
  const ports = await listed(canaries, 2);
  assert.equal(ports.length, 2);
  assert.ok(ports.includes(open.port));
  assert.ok(!ports.includes(closed.port));
  await canaries.close();
});

test('are given up at once when the process stops', async (t) => {
  const silent = await startTcpServer('backlog-full', host);
  t.after(silent.close);
  const canaries = localCanaries({ clock: systemClock, resolve, wayOut: [{ host, port: silent.port }] });
  await listed(canaries, 1);
  await canaries.close();
  assert.equal(canaries.list.length, 1);
});
