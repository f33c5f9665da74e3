/** The limits of registration, as the processes of `npm start` are composed with them. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { startControl } from '../../functions/local/control.ts';
import { startRuntime } from '../../functions/local/runtime.ts';
import { systemClock } from '../../shared/lib/clock.ts';
import { systemRandom } from '../../shared/lib/random.ts';
import { inProcessQueue } from '../../shared/queue/in-process.ts';
import { sqliteStore } from '../../shared/store/sqlite.ts';
import { recordingLog } from '../support/recording-log.ts';

const [clock, random] = [systemClock, systemRandom];
const quotas = { targetsMax: 1 };

type Served = { readonly fetch: (request: Request) => Response | Promise<Response> };

async function ask({ fetch }: Served, method: string, target: string) {
  const body = JSON.stringify({ spec: { host: '127.0.0.1', containers: [{ name: 'main' }] } });
  const headers = { 'content-type': 'application/json' };
  const url = `http://127.0.0.1/v1/namespaces/default/targets/${target}`;
  return (await fetch(new Request(url, { method, ...(method === 'PUT' && { headers, body }) }))).status;
}

describe('a target too many is refused', () => {
  test('by one process alone, until another one is gone', async () => {
    const runtime = startRuntime({ dataDir: ':memory:', quotas }, { clock, random, log: recordingLog() });
    const statuses = [await ask(runtime, 'PUT', 'a'), await ask(runtime, 'PUT', 'b'), await ask(runtime, 'PUT', 'a')];
    assert.deepEqual(statuses, [201, 429, 200]);
    assert.equal(await ask(runtime, 'DELETE', 'a?gracePeriodSeconds=0'), 202);
    await runtime.bus.settled();
    assert.deepEqual([await ask(runtime, 'GET', 'a'), await ask(runtime, 'PUT', 'b')], [404, 201]);
    await runtime.stop();
  });

  test('by a control process', async () => {
    const store = sqliteStore({ path: ':memory:' });
    const inner = inProcessQueue({ clock, visibilityMs: 15_000, retentionMs: 3_600_000 });
    const services = { store, queue: { ...inner, settled: async () => {} } };
    const control = startControl({ release: '', quotas }, { clock, random, log: recordingLog(), services });
    const statuses = [await ask(control, 'PUT', 'a'), await ask(control, 'PUT', 'b'), await ask(control, 'PUT', 'a')];
    assert.deepEqual(statuses, [201, 429, 200]);
    await control.stop();
  });
});
