/** The limits of registration, as the processes of `npm start` are composed with them. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { startControl } from '../../functions/local/process/control.ts';
import { startRuntime } from '../../functions/local/process/runtime.ts';
import { systemClock } from '../../shared/lib/clock.ts';
import { systemRandom } from '../../shared/lib/random.ts';
import { askApi, type Served, targetPath } from '../support/api-client.ts';
import { recordingLog } from '../support/recording-log.ts';
import { servicesInMemory } from './services.ts';

const [clock, random] = [systemClock, systemRandom];
const quotas = { targetsMax: 1 };

async function ask(served: Served, method: string, target: string) {
  const body = { spec: { host: '127.0.0.1', containers: [{ name: 'main' }] } };
  return (await askApi(served, method, targetPath(target), method === 'PUT' ? body : undefined)).status;
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
    const services = servicesInMemory(clock);
    const control = startControl({ release: '', quotas }, { clock, random, log: recordingLog(), services });
    const statuses = [await ask(control, 'PUT', 'a'), await ask(control, 'PUT', 'b'), await ask(control, 'PUT', 'a')];
    assert.deepEqual(statuses, [201, 429, 200]);
    await control.stop();
  });
});
