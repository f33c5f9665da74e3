import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { apiWorld, startMs, targetPath } from './world.ts';

const path = targetPath('app');
const probed = (name: string) => ({ name, livenessProbe: { tcpSocket: { port: 1 } } });

async function registered(spec: object = { containers: [probed('main')] }) {
  const world = apiWorld();
  assert.equal((await world.request('PUT', path, { body: { spec: { host: '127.0.0.1', ...spec } } })).status, 201);
  const report = (body?: unknown, query = '') =>
    world.request('POST', `${path}/restarted${query}`, body === undefined ? {} : { body });
  const stored = async () => {
    const target = (await world.items('app')).find(({ kind }) => kind === 'TARGET');
    return { uid: String(target?.uid), version: target?.resourceVersion, incarnations: target?.incarnations };
  };
  return { ...world, report, stored };
}

describe('POST …/restarted', () => {
  test('begins the next incarnation of the container, now', async () => {
    const world = await registered();
    assert.deepEqual((await world.stored()).incarnations, { main: { restartCount: 0, startedAtMs: startMs } });
    world.advance(5_000);
    const response = await world.report({ container: 'main' });
    assert.equal(response.status, 200);
    assert.equal(response.headers.get('etag'), '"2"');
    assert.deepEqual((await world.stored()).incarnations, { main: { restartCount: 1, startedAtMs: startMs + 5_000 } });
  });

  test('needs no name where the target has one container, and none of an ordinary init container', async () => {
    const world = await registered({ initContainers: [{ name: 'init' }], containers: [probed('main')] });
    assert.equal((await world.report()).status, 200);
    assert.equal((await world.report({ container: 'init' })).status, 422);
  });

  test('wakes status-sync', async () => {
    const world = await registered();
    await world.report({});
    const reasons = world.published.flatMap(({ detail }) => ('reason' in detail ? [detail.reason] : []));
    assert.ok(reasons.includes('RestartReported'), reasons.join(' '));
  });

  test('of a containerID that is not the present one is a repetition and changes nothing', async () => {
    const world = await registered();
    const { uid } = await world.stored();
    const body = { container: 'main', containerID: `probelet://${uid}/main/0` };
    for (let time = 0; time < 3; time += 1) assert.equal((await world.report(body)).status, 200);
    const { version, incarnations } = await world.stored();
    assert.deepEqual([version, incarnations], [2, { main: { restartCount: 1, startedAtMs: startMs } }]);
  });

  test('with dryRun answers and stores nothing', async () => {
    const world = await registered();
    assert.equal((await world.report({}, '?dryRun=true')).status, 200);
    assert.equal((await world.stored()).version, 1);
  });

  type Problem = {
    readonly status: number;
    readonly type: string;
    readonly detail: string;
    readonly errors?: readonly { readonly pointer: string; readonly detail: string }[];
  };
  const problemOf = async (response: Response) => (await response.json()) as Problem;

  test('of an unknown container names those that there are', async () => {
    const world = await registered({ containers: [probed('one'), probed('two')] });
    for (const body of [{ container: 'three' }, {}]) {
      const { errors } = await problemOf(await world.report(body));
      assert.deepEqual(errors, [{ pointer: '/container', detail: 'must be one of one, two' }]);
    }
  });

  test('of a target whose containers are reported says where to report instead', async () => {
    const world = await registered({ lifecycle: 'reported', containers: [probed('main')] });
    const problem = await problemOf(await world.report({}));
    assert.equal(problem.status, 409);
    assert.match(problem.type, /not-static$/);
    assert.match(problem.detail, /PUT …\/status/);
  });

  test('of a target that is not there, or is terminating, is refused', async () => {
    const world = await registered();
    assert.equal((await world.request('POST', `${targetPath('none')}/restarted`, {})).status, 404);
    await world.request('DELETE', path);
    assert.equal((await world.report({})).status, 409);
  });

  test('does not get lost by a change of the spec, and survives a change of lifecycle', async () => {
    const world = await registered();
    await world.report({});
    const put = (spec: object) => world.request('PUT', path, { body: { spec: { host: '127.0.0.1', ...spec } } });
    world.advance(1_000);
    assert.equal((await put({ containers: [probed('main'), probed('new')] })).status, 200);
    const incarnations = {
      main: { restartCount: 1, startedAtMs: startMs },
      new: { restartCount: 0, startedAtMs: startMs + 1_000, joinedGeneration: 2 },
    };
    assert.deepEqual((await world.stored()).incarnations, incarnations);
    for (const lifecycle of ['reported', 'static'])
      assert.equal((await put({ lifecycle, containers: [probed('main'), probed('new')] })).status, 200);
    assert.deepEqual((await world.stored()).incarnations, incarnations);
  });
});
