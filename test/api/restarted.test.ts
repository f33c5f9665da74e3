import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { testsIn } from '../support/tests-in.ts';
import { apiWorld, startMs, targetPath } from './world.ts';

const path = targetPath('app');
const probed = (name: string) => ({ name, livenessProbe: { tcpSocket: { port: 1 } } });

async function registered(spec: object = { containers: [probed('main')] }) {
  const world = apiWorld();
  await world.expect(201, 'PUT', path, { spec: { host: '127.0.0.1', ...spec } });
  const report = (status: number, body?: unknown, query = '') =>
    world.expect(status, 'POST', `${path}/restarted${query}`, body);
  const stored = async () => {
    const target = await world.itemOf('app', 'TARGET');
    return { uid: String(target?.uid), version: target?.resourceVersion, incarnations: target?.incarnations };
  };
  return { ...world, report, stored };
}

const inRegistered = testsIn(() => registered());

describe('POST …/restarted', () => {
  inRegistered('begins the next incarnation of the container, now', async (world) => {
    assert.deepEqual((await world.stored()).incarnations, { main: { restartCount: 0, startedAtMs: startMs } });
    world.advance(5_000);
    assert.equal((await world.report(200, { container: 'main' })).etag, '"2"');
    assert.deepEqual((await world.stored()).incarnations, { main: { restartCount: 1, startedAtMs: startMs + 5_000 } });
  });

  test('needs no name where the target has one container, and none of an ordinary init container', async () => {
    const world = await registered({ initContainers: [{ name: 'init' }], containers: [probed('main')] });
    await world.report(200);
    await world.report(422, { container: 'init' });
  });

  inRegistered('wakes status-sync', async (world) => {
    await world.report(200, {});
    const reasons = world.published.flatMap(({ detail }) => ('reason' in detail ? [detail.reason] : []));
    assert.ok(reasons.includes('RestartReported'), reasons.join(' '));
  });

  inRegistered('of a containerID that is not the present one is a repetition and changes nothing', async (world) => {
    const { uid } = await world.stored();
    const body = { container: 'main', containerID: `probelet://${uid}/main/0` };
    for (let time = 0; time < 3; time += 1) await world.report(200, body);
    const { version, incarnations } = await world.stored();
    assert.deepEqual([version, incarnations], [2, { main: { restartCount: 1, startedAtMs: startMs } }]);
  });

  inRegistered('with dryRun answers and stores nothing', async (world) => {
    await world.report(200, {}, '?dryRun=true');
    assert.equal((await world.stored()).version, 1);
  });

  test('of an unknown container names those that there are', async () => {
    const world = await registered({ containers: [probed('one'), probed('two')] });
    for (const body of [{ container: 'three' }, {}]) {
      const { errors } = (await world.report(422, body)).body;
      assert.deepEqual(errors, [{ pointer: '/container', detail: 'must be one of one, two' }]);
    }
  });

  test('of a target whose containers are reported says where to report instead', async () => {
    const world = await registered({ lifecycle: 'reported', containers: [probed('main')] });
    const { type, detail } = (await world.report(409, {})).body;
    assert.match(type, /not-static$/);
    assert.match(detail, /PUT …\/status/);
  });

  inRegistered('of a target that is not there, or is terminating, is refused', async (world) => {
    await world.expect(404, 'POST', `${targetPath('none')}/restarted`);
    await world.ask('DELETE', path);
    await world.report(409, {});
  });

  inRegistered('does not get lost by a change of the spec, and survives a change of lifecycle', async (world) => {
    await world.report(200, {});
    const put = (spec: object) => world.expect(200, 'PUT', path, { spec: { host: '127.0.0.1', ...spec } });
    world.advance(1_000);
    await put({ containers: [probed('main'), probed('new')] });
    const incarnations = {
      main: { restartCount: 1, startedAtMs: startMs },
      new: { restartCount: 0, startedAtMs: startMs + 1_000, joinedGeneration: 2 },
    };
    assert.deepEqual((await world.stored()).incarnations, incarnations);
    for (const lifecycle of ['reported', 'static'])
      await put({ lifecycle, containers: [probed('main'), probed('new')] });
    assert.deepEqual((await world.stored()).incarnations, incarnations);
  });
});
