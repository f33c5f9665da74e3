import assert from 'node:assert/strict';
import { describe } from 'node:test';
import { testsIn } from '../support/tests-in.ts';
import { apiWorld, manifest, startMs, targetPath, type World } from './world.ts';

const path = targetPath('worker');
const containers = [{ name: 'app', livenessProbe: { tcpSocket: { port: 1 } } }];
const reported = { spec: { host: '127.0.0.1', lifecycle: 'reported', containers } };
const started = { running: { startedAt: '2026-01-01T11:59:00Z' } };
const running = {
  status: {
    phase: 'Running',
    containerStatuses: [
      {
        name: 'app',
        containerID: 'containerd://1',
        state: started,
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

const condition = (type: string) => ({ type, status: 'True' });

const inRegistered = testsIn(async () => {
  const world = apiWorld();
  await world.expect(201, 'PUT', path, reported);
  return world;
});

const reportOf = (world: World) => world.itemOf('worker', 'REPORT');

const report = (world: World, body: unknown = running, query = '') =>
  world.expect(200, 'PUT', `${path}/status${query}`, body);

describe('PUT …/status', () => {
  inRegistered('stores what the reporter says of the containers and of conditions that are its own', async (world) => {
    const { warning } = await report(world);
    assert.equal(warning, '299 - "not stored, does not concern probing: status.containerStatuses[].image"');
    const target = await world.itemOf('worker', 'TARGET');
    const { pk: _, sk: __, ...stored } = (await reportOf(world)) ?? { pk: '', sk: '' };
    assert.deepEqual(stored, {
      kind: 'REPORT',
      schemaVersion: 1,
      uid: target?.uid,
      version: 1,
      reportedAtMs: startMs,
      beganAtMs: {},
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

  inRegistered('leaves the entity tag alone, which belongs to spec and metadata', async (world) =>
    assert.equal((await report(world)).etag, '"1"'),
  );

  inRegistered('grows the version with each report that differs, and only then', async (world) => {
    const state = { terminated: { exitCode: 1, finishedAt: '2026-01-01T12:00:00Z' } };
    const stopped = { status: { containerStatuses: [{ name: 'app', state }] } };
    const versions: unknown[] = [];
    for (const body of [running, running, stopped]) {
      world.advance(1_000);
      await report(world, body);
      versions.push((await reportOf(world))?.version);
    }
    assert.deepEqual(versions, [1, 1, 2]);
  });

  inRegistered('keeps when a container that does not run began, until it is another one', async (world) => {
    const began: unknown[] = [];
    const waiting = (containerID: string, restartCount = 0) => ({
      status: { containerStatuses: [{ name: 'app', containerID, restartCount, state: { waiting: {} } }] },
    });
    const bodies = [waiting('containerd://1'), waiting('containerd://1', 1), waiting('containerd://2'), running];
    for (const body of [...bodies, waiting('containerd://1'), { status: { phase: 'Pending' } }]) {
      world.advance(1_000);
      await report(world, body);
      began.push((await reportOf(world))?.beganAtMs);
    }
    assert.deepEqual(began, [
      { app: startMs + 1_000 },
      { app: startMs + 1_000 },
      { app: startMs + 3_000 },
      {},
      { app: startMs - 60_000 },
      { app: startMs + 6_000 },
    ]);
  });

  inRegistered('of a whole Pod is taken as it is', async (world) => {
    const body = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'worker' }, spec: { nodeName: 'n' }, ...running };
    await report(world, body);
  });

  inRegistered('with dryRun stores nothing', async (world) => {
    await report(world, running, '?dryRun=true');
    assert.equal(await reportOf(world), undefined);
  });

  inRegistered('replaces a report that cannot be read', async (world) => {
    await report(world);
    const item = await reportOf(world);
    assert.ok(item);
    await world.put({ ...item, containerStatuses: 7 });
    await report(world);
    assert.deepEqual((await reportOf(world))?.containerStatuses, item.containerStatuses);
  });

  inRegistered('of a static target is 409, of an unknown one 404', async (world) => {
    await world.ask('PUT', targetPath('fixed'), manifest());
    await world.expect(409, 'PUT', `${targetPath('fixed')}/status`, running);
    await world.expect(404, 'PUT', `${targetPath('nobody')}/status`, running);
  });

  const bad: readonly (readonly [what: string, status: unknown, pointer: string])[] = [
    ['no status', undefined, ''],
    ['an unknown phase', { phase: 'Sleeping' }, '/phase'],
    ['an unknown field', { containers: [] }, '/containers'],
    ['an unknown container', { containerStatuses: [{ name: 'other' }] }, '/containerStatuses/0/name'],
    ['an init container that is none', { initContainerStatuses: [{ name: 'app' }] }, '/initContainerStatuses/0/name'],
    ['a container twice', { containerStatuses: [{ name: 'app' }, { name: 'app' }] }, '/containerStatuses/1/name'],
    ['a condition twice', { conditions: [condition('a'), condition('a')] }, '/conditions/1/type'],
    ['a condition type that is none', { conditions: [condition('a b')] }, '/conditions/0/type'],
    ['a condition status that is none', { conditions: [{ type: 'a', status: true }] }, '/conditions/0/status'],
  ];
  /** Of the container `app`. */
  const badContainers: readonly (readonly [what: string, container: object, pointer: string])[] = [
    ['two states at once', { state: { ...started, waiting: {} } }, 'state'],
    ['running since nobody knows when', { state: { running: {} } }, 'state/running/startedAt'],
    ['a time that is none', { state: { running: { startedAt: 'noon' } } }, 'state/running/startedAt'],
    ['terminated without exit code', { lastState: { terminated: {} } }, 'lastState/terminated/exitCode'],
    ['a containerID without scheme', { containerID: 'abc' }, 'containerID'],
    ['a negative restart count', { restartCount: -1 }, 'restartCount'],
  ];
  const ofContainers = badContainers.map(([what, container, pointer]) => {
    const status = { containerStatuses: [{ name: 'app', ...container }] };
    return [what, status, `/containerStatuses/0/${pointer}`] as const;
  });
  for (const [what, status, pointer] of [...bad, ...ofContainers])
    inRegistered(`with ${what} is 422`, async (world) => {
      const { places } = await world.expect(422, 'PUT', `${path}/status`, { status });
      assert.deepEqual(places, [`/status${pointer}`]);
      assert.equal(await reportOf(world), undefined);
    });
});
