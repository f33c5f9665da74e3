import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { functionLog } from '../../functions/lambda/log.ts';
import { functionMetrics } from '../../functions/lambda/metrics.ts';
import { scheduleFunction } from '../../functions/schedule/schedule.ts';
import { apiApp } from '../../shared/api/app.ts';
import { inProcessBus } from '../../shared/bus/in-process.ts';
import type { LayoutContext } from '../../shared/core/shards/layout.ts';
import { systemRandom } from '../../shared/lib/random.ts';
import type { ShardMessage } from '../../shared/queue/queue.ts';
import { sqliteStore } from '../../shared/store/sqlite/sqlite.ts';
import { register } from '../support/api-client.ts';
import { virtualClock } from '../support/virtual-clock.ts';
import { context } from './invocation.ts';

type Asked = { readonly mode: LayoutContext['mode']; readonly periodSeconds?: number };

/** What the schedule sends where one target, or none, is registered. */
async function sent({ mode, periodSeconds }: Asked): Promise<readonly ShardMessage[]> {
  const [clock, random] = [virtualClock(), systemRandom];
  const log = functionLog({ service: 'schedule', nowMs: clock.nowMs, write: () => {} });
  const store = sqliteStore({ path: ':memory:' });
  const bus = inProcessBus({ clock, random, log });
  const ports = { clock, random, log, store, bus };
  if (periodSeconds !== undefined) {
    const app = apiApp({ ...ports, health: () => ({ ok: true, quarantined: [] }) });
    const readinessProbe = { tcpSocket: { port: 1 }, periodSeconds };
    await register(app, 'a', { host: '127.0.0.1', readinessProbe });
  }
  const messages: ShardMessage[] = [];
  const handler = scheduleFunction({
    ...ports,
    metrics: functionMetrics({ service: 'schedule', stage: 'test', clock, write: () => {} }),
    queue: { send: async (message) => void (message.kind !== 'look' && messages.push(message)) },
    release: 'r1',
    mode,
    capacityMb: 256,
  });
  await clock.runUntil(handler({}, context(29_000)));
  store.close();
  return messages;
}

describe('the mode of a deployment', () => {
  const modesOf = async (asked: Asked) => [...new Set((await sent(asked)).map(({ mode = 'resident' }) => mode))];

  test('auto: as the periods ask for it, and nothing without targets', async () => {
    assert.deepEqual(await modesOf({ mode: 'auto', periodSeconds: 10 }), ['resident']);
    assert.deepEqual(await modesOf({ mode: 'auto', periodSeconds: 60 }), ['tick']);
    assert.deepEqual(await modesOf({ mode: 'auto' }), []);
  });

  test('resident: whatever the periods', async () =>
    assert.deepEqual(await modesOf({ mode: 'resident', periodSeconds: 60 }), ['resident']));

  test('tick: whatever the periods', async () =>
    assert.deepEqual(await modesOf({ mode: 'tick', periodSeconds: 10 }), ['tick']));
});
