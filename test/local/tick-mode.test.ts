/** One machine in tick mode: nothing runs between the minutes, and all is well. */
import assert from 'node:assert/strict';
import { createServer } from 'node:net';
import { test } from 'node:test';
import { sleep } from '../../shared/lib/clock.ts';
import { startInjectedWorld } from '../e2e/injected-world.ts';
import { listenWith, portOf } from '../support/tcp-server.ts';

const minuteMs = 60_000;

for (const mode of ['auto', 'tick'] as const)
  test(`mode ${mode}: a target that asks for a minute is probed each minute, from the one after its registration`, async (t) => {
    let dials = 0;
    const server = createServer((socket) => {
      dials += 1;
      socket.destroy();
    });
    const port = await portOf(t, listenWith(server, '127.0.0.1'));
    const world = startInjectedWorld({ mode });
    const isWell = async () => (await world.api('GET', '/healthz', undefined)).status;
    await world.play(sleep(world.clock, 1_000));
    assert.equal(await isWell(), 200, 'without targets');
    const readinessProbe = { tcpSocket: { port }, periodSeconds: 60 };
    await world.api('PUT', '/v1/namespaces/default/targets/a', { spec: { host: '127.0.0.1', readinessProbe } });
    for (let minute = 1; minute <= 5; minute += 1) {
      await world.play(sleep(world.clock, minuteMs));
      assert.deepEqual([dials, await isWell()], [minute, 200]);
      assert.deepEqual(world.runtime.shard.view()?.beat.late, 0);
    }
    await world.stop();
    const errors = world.log.lines.filter(({ level }) => level === 'error');
    assert.deepEqual(errors, []);
  });
