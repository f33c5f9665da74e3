import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { heldWorld, inShardWorld } from '../../support/shard-world.ts';

const name = 'app';
const hourly = { tcpSocket: { port: 1 }, periodSeconds: 3_600 };

/** How long it takes at most until the holder has seen a change, probed and committed. */
const soonSeconds = 5;

describe('a worker that has ended comes back and is probed at once', () => {
  test('when its probe comes back into the spec', async () => {
    const { world } = await heldWorld({ [name]: { readinessProbe: hourly, livenessProbe: hourly } });
    const readiness = () => world.probe(name, 'main#readiness');
    await world.until('probed', async () => (await readiness()).result === 'success');
    await world.put(name, { livenessProbe: hourly });
    await world.until('ended', async () => (await readiness()).ended);
    await world.put(name, { readinessProbe: hourly, livenessProbe: hourly });
    await world.until('probed again', async () => (await readiness()).result === 'success', soonSeconds);
  });

  test('when its startup probe comes back: the container has to start again first', async () => {
    const { world } = await heldWorld({ [name]: { startupProbe: hourly, readinessProbe: hourly } });
    const startup = () => world.probe(name, 'main#startup');
    await world.until('started', async () => (await startup()).result === 'success');
    await world.put(name, { readinessProbe: hourly });
    await world.until('ended', async () => (await startup()).ended);
    await world.put(name, { startupProbe: hourly, readinessProbe: hourly });
    await world.until('started again', async () => (await startup()).result === 'success', soonSeconds);
  });

  inShardWorld('when the reporter takes back that its target has failed', async (world) => {
    await world.put(name, { lifecycle: 'reported', readinessProbe: hourly });
    const report = (phase: string) => world.reportRunning(name, 'test://main', { container: 'main', phase });
    await report('Running');
    await world.run();
    const readiness = () => world.probe(name, 'main#readiness');
    await world.until('probed', async () => (await readiness()).result === 'success');
    await report('Failed');
    await world.trigger(name);
    await world.until('ended', async () => (await readiness()).ended);
    world.answer(() => 'failure');
    await report('Running');
    await world.until('begun anew', async () => !(await readiness()).ended, soonSeconds);
    const { conditions } = (await world.status(name)).status;
    assert.notEqual(conditions.find(({ type }) => type === 'Ready')?.status, 'True');
  });
});
