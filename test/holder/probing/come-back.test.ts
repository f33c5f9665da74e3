import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { heldWorld, inShardWorld, shardWorld } from '../../support/shard-world.ts';

const name = 'app';
const hourly = { tcpSocket: { port: 1 }, periodSeconds: 3_600 };

/** How long it takes at most until the holder has seen a change, probed and committed. */
const soonSeconds = 5;

test('a readiness probe does not wait for its period once its startup probe has succeeded', async () => {
  const startupProbe = { tcpSocket: { port: 2 }, periodSeconds: 10, failureThreshold: 100 };
  const world = shardWorld();
  world.answer(() => 'failure');
  await world.put(name, { startupProbe, readinessProbe: hourly });
  await world.run();
  await world.clock.advance(60_000);
  const resultOf = async (probeType: string) => (await world.probe(name, `main#${probeType}`)).result;
  assert.notEqual(await resultOf('readiness'), 'success');
  world.answer(() => 'success');
  await world.until('started', async () => (await resultOf('startup')) === 'success', 10);
  await world.until('ready', async () => (await resultOf('readiness')) === 'success', soonSeconds);
});

describe('a worker that has ended comes back and is probed at once', () => {
  for (const [when, probeType, rest] of [
    ['when its probe comes back into the spec', 'readiness', { livenessProbe: hourly }],
    [
      'when its startup probe comes back: the container has to start again first',
      'startup',
      { readinessProbe: hourly },
    ],
  ] as const)
    test(when, async () => {
      const whole = { [`${probeType}Probe`]: hourly, ...rest };
      const { world } = await heldWorld({ [name]: whole });
      const record = () => world.probe(name, `main#${probeType}`);
      await world.until('probed', async () => (await record()).result === 'success');
      await world.put(name, rest);
      await world.until('ended', async () => (await record()).ended);
      await world.put(name, whole);
      await world.until('probed again', async () => (await record()).result === 'success', soonSeconds);
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
