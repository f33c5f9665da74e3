import assert from 'node:assert/strict';
import { test } from 'node:test';
import { shardWorld } from '../support/shard-world.ts';

const name = 'app';
const readinessProbe = { tcpSocket: { port: 1 }, periodSeconds: 1, failureThreshold: 1 };
const specOf = (...initContainers: readonly string[]) => ({
  lifecycle: 'reported' as const,
  restartPolicy: 'Never' as const,
  initContainers: initContainers.map((init) => ({ name: init })),
  containers: [{ name: 'main', readinessProbe }],
});

/** A target that is ready: its init container `migrate` has ended well, and `main` runs. */
async function readyTarget() {
  const world = shardWorld();
  await world.put(name, specOf('migrate'));
  const startedAt = new Date(world.clock.nowMs()).toISOString();
  const main = { name: 'main', containerID: 'test://main', state: { running: { startedAt } } };
  const report = (state?: unknown) =>
    world.report(name, {
      phase: 'Running',
      initContainerStatuses: state ? [{ name: 'migrate', containerID: 'test://migrate', state }] : [],
      containerStatuses: [main],
    });
  const shown = async () => {
    const { conditions, initContainerStatuses, containerStatuses } = (await world.status(name)).status;
    return {
      isReady: conditions.find(({ type }) => type === 'Ready')?.status,
      states: [...initContainerStatuses, ...containerStatuses].map((each) => `${each.name} ${each.state?.kind}`),
    };
  };
  await report({ terminated: { exitCode: 0 } });
  await world.run();
  await world.until('ready', async () => (await shown()).isReady === 'True');
  return { world, report, shown, startedAt };
}

test('a report that is refused hides no verdict: its target is not ready once the probe fails', async () => {
  const { world, report, shown, startedAt } = await readyTarget();
  await report({ running: { startedAt } });
  world.answer(() => 'failure');
  await world.until('unready', async () => (await shown()).isReady === 'False', 60);
  assert.deepEqual((await shown()).states, ['migrate terminated', 'main running']);
});

test('a report that leaves out a terminated container is taken in, as kubelet takes in such a status', async () => {
  const { world, report, shown } = await readyTarget();
  await report();
  await world.until('without it', async () => (await shown()).states[0] === 'migrate waiting', 10);
  const { observedReportVersion } = await world.status(name);
  await report({ terminated: { exitCode: 0 } });
  await world.until('with it', async () => (await shown()).states[0] === 'migrate terminated', 10);
  assert.ok((await world.status(name)).observedReportVersion > observedReportVersion);
});

for (const [what, init, states] of [
  ['another init container', ['seed'], ['seed waiting', 'main running']],
  ['one before it', ['seed', 'migrate'], ['seed waiting', 'migrate terminated', 'main running']],
  ['none', [], ['main running']],
] as const)
  test(`a spec with ${what} in place of an init container does not stop the status`, async () => {
    const { world, shown } = await readyTarget();
    await world.put(name, specOf(...init));
    world.answer(() => 'failure');
    await world.until('unready', async () => (await shown()).isReady === 'False', 60);
    assert.deepEqual((await shown()).states, states);
  });
