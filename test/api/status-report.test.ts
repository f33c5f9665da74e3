import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { apiWorld, manifest, startMs, targetPath } from './world.ts';

const path = targetPath('worker');
const reported = {
  spec: {
    host: '127.0.0.1',
    lifecycle: 'reported',
    containers: [{ name: 'app', livenessProbe: { tcpSocket: { port: 1 } } }],
  },
};
const running = {
  status: {
    phase: 'Running',
    containerStatuses: [
      {
        name: 'app',
        containerID: 'containerd://1',
        state: { running: { startedAt: '2026-01-01T11:59:00Z' } },
        ready: true,
        started: true,
        restartCount: 2,
        image: 'x',
      },
    ],
    conditions: [
      { type: 'Ready', status: 'True' },
      { type: 'example.com/warm', status: 'True', lastTransitionTime: '2026-01-01T13:00:00+01:00' },
    ],
  },
};

async function registered() {
  const world = apiWorld();
  assert.equal((await world.request('PUT', path, { body: reported })).status, 201);
  return world;
}

const reportOf = async (world: Awaited<ReturnType<typeof registered>>) =>
  (await world.items('worker')).find(({ kind }) => kind === 'REPORT');

describe('PUT …/status', () => {
  test('stores what the reporter says of the containers and of conditions that are its own', async () => {
    const world = await registered();
    const response = await world.request('PUT', `${path}/status`, { body: running });
    assert.equal(response.status, 200);
    assert.equal(
      response.headers.get('warning'),
      '299 - "not stored, does not concern probing: status.containerStatuses[].image"',
    );
    const [target] = (await world.items('worker')).filter(({ kind }) => kind === 'TARGET');
    const { pk: _, sk: __, ...report } = (await reportOf(world)) ?? { pk: '', sk: '' };
    assert.deepEqual(report, {
      kind: 'REPORT',
      schemaVersion: 1,
      uid: target?.uid,
      version: 1,
      reportedAtMs: startMs,
      phase: 'Running',
      initContainerStatuses: [],
      containerStatuses: [
        {
          name: 'app',
          containerID: 'containerd://1',
          state: { kind: 'running', startedAtMs: startMs - 60_000 },
          ready: false,
          started: null,
          restartCount: 2,
        },
      ],
      conditions: [{ type: 'example.com/warm', status: 'True', lastTransitionTimeMs: startMs }],
    });
    await world.bus.settled();
    assert.partialDeepStrictEqual(world.published.at(-1), { detail: { reason: 'StatusReported' } });
  });

  test('leaves the entity tag alone: it is of spec and metadata', async () => {
    const world = await registered();
    const response = await world.request('PUT', `${path}/status`, { body: running });
    assert.equal(response.headers.get('etag'), '"1"');
  });

  test('grows the version with each report that differs, and only then', async () => {
    const world = await registered();
    const stopped = {
      status: {
        containerStatuses: [
          { name: 'app', state: { terminated: { exitCode: 1, finishedAt: '2026-01-01T12:00:00Z' } } },
        ],
      },
    };
    const versions: unknown[] = [];
    for (const body of [running, running, stopped]) {
      world.advance(1_000);
      await world.request('PUT', `${path}/status`, { body });
      versions.push((await reportOf(world))?.version);
    }
    assert.deepEqual(versions, [1, 1, 2]);
  });

  test('of a whole Pod is taken as it is', async () => {
    const world = await registered();
    const body = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'worker' }, spec: { nodeName: 'n' }, ...running };
    assert.equal((await world.request('PUT', `${path}/status`, { body })).status, 200);
  });

  test('with dryRun stores nothing', async () => {
    const world = await registered();
    assert.equal((await world.request('PUT', `${path}/status?dryRun=true`, { body: running })).status, 200);
    assert.equal(await reportOf(world), undefined);
  });

  test('replaces a report that cannot be read', async () => {
    const world = await registered();
    await world.request('PUT', `${path}/status`, { body: running });
    const item = await reportOf(world);
    assert.ok(item);
    await world.store.write([{ kind: 'put', item: { ...item, containerStatuses: 7 } }], { token: 'poison' });
    assert.equal((await world.request('PUT', `${path}/status`, { body: running })).status, 200);
    assert.deepEqual((await reportOf(world))?.containerStatuses, item.containerStatuses);
  });

  test('of a static target is 409, of an unknown one 404', async () => {
    const world = await registered();
    await world.request('PUT', targetPath('fixed'), { body: manifest() });
    assert.equal((await world.request('PUT', `${targetPath('fixed')}/status`, { body: running })).status, 409);
    assert.equal((await world.request('PUT', `${targetPath('nobody')}/status`, { body: running })).status, 404);
  });

  const bad: readonly (readonly [what: string, status: unknown, pointer: string])[] = [
    ['no status', undefined, '/status'],
    ['an unknown phase', { phase: 'Sleeping' }, '/status/phase'],
    ['an unknown field', { containers: [] }, '/status/containers'],
    ['an unknown container', { containerStatuses: [{ name: 'other' }] }, '/status/containerStatuses/0/name'],
    [
      'an init container that is none',
      { initContainerStatuses: [{ name: 'app' }] },
      '/status/initContainerStatuses/0/name',
    ],
    [
      'a container twice',
      { containerStatuses: [{ name: 'app' }, { name: 'app' }] },
      '/status/containerStatuses/1/name',
    ],
    [
      'two states at once',
      { containerStatuses: [{ name: 'app', state: { running: { startedAt: '2026-01-01T11:59:00Z' }, waiting: {} } }] },
      '/status/containerStatuses/0/state',
    ],
    [
      'running since nobody knows when',
      { containerStatuses: [{ name: 'app', state: { running: {} } }] },
      '/status/containerStatuses/0/state/running/startedAt',
    ],
    [
      'a time that is none',
      { containerStatuses: [{ name: 'app', state: { running: { startedAt: 'noon' } } }] },
      '/status/containerStatuses/0/state/running/startedAt',
    ],
    [
      'terminated without exit code',
      { containerStatuses: [{ name: 'app', lastState: { terminated: {} } }] },
      '/status/containerStatuses/0/lastState/terminated/exitCode',
    ],
    [
      'a containerID without scheme',
      { containerStatuses: [{ name: 'app', containerID: 'abc' }] },
      '/status/containerStatuses/0/containerID',
    ],
    [
      'a negative restart count',
      { containerStatuses: [{ name: 'app', restartCount: -1 }] },
      '/status/containerStatuses/0/restartCount',
    ],
    [
      'a condition twice',
      {
        conditions: [
          { type: 'a', status: 'True' },
          { type: 'a', status: 'True' },
        ],
      },
      '/status/conditions/1/type',
    ],
    ['a condition type that is none', { conditions: [{ type: 'a b', status: 'True' }] }, '/status/conditions/0/type'],
    ['a condition status that is none', { conditions: [{ type: 'a', status: true }] }, '/status/conditions/0/status'],
  ];
  for (const [what, status, pointer] of bad)
    test(`with ${what} is 422`, async () => {
      const world = await registered();
      const response = await world.request('PUT', `${path}/status`, { body: { status } });
      assert.equal(response.status, 422);
      const { errors } = (await response.json()) as { readonly errors: readonly { readonly pointer: string }[] };
      assert.deepEqual(
        errors.map((each) => each.pointer),
        [pointer],
      );
      assert.equal(await reportOf(world), undefined);
    });
});
