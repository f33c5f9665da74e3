import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { testsIn } from '../support/tests-in.ts';
import { apiWorld, registered, targetPath, type World } from './world.ts';

const path = targetPath('checkout');
const probe = { tcpSocket: { port: 1 } };
const body = {
  spec: {
    host: '127.0.0.1',
    containers: [
      { name: 'a', readinessProbe: probe, livenessProbe: probe },
      { name: 'b', readinessProbe: probe },
      { name: 'c' },
    ],
  },
};

const requests = async (world: World) => (await world.itemOf('checkout', 'TARGET'))?.probeRequests;

const inRegistered = testsIn(() => registered(body));

describe('POST …/probe', () => {
  inRegistered('without a body asks for every probe', async (world) => {
    const answer = await world.expect<object>(202, 'POST', `${path}/probe`);
    assert.deepEqual(answer.body, {
      probes: [
        { container: 'a', probeType: 'readiness' },
        { container: 'a', probeType: 'liveness' },
        { container: 'b', probeType: 'readiness' },
      ],
    });
    assert.deepEqual(await requests(world), { 'a#readiness': 1, 'a#liveness': 1, 'b#readiness': 1 });
  });

  test('with an empty stream, as a server passes on a POST without a body, asks for every probe', async () => {
    const world = await registered(body);
    const send = async (text: string) => {
      const stream = new Blob([text]).stream();
      const asked = { method: 'POST', body: stream, duplex: 'half' } as const;
      return (await world.app.fetch(new Request(`http://probelet.test${path}/probe`, asked))).status;
    };
    assert.equal(await send(''), 202);
    assert.equal(await send('{}'), 415);
    assert.deepEqual(await requests(world), { 'a#readiness': 1, 'a#liveness': 1, 'b#readiness': 1 });
  });

  inRegistered('by container and type asks for those only, and counts each time', async (world) => {
    for (const wanted of [{ container: 'a' }, { probeType: 'readiness' }, { container: 'a', probeType: 'liveness' }])
      await world.ask('POST', `${path}/probe`, wanted);
    assert.deepEqual(await requests(world), { 'a#readiness': 2, 'a#liveness': 2, 'b#readiness': 1 });
  });

  inRegistered('grows neither generation nor resourceVersion', async (world) => {
    await world.ask('POST', `${path}/probe`);
    assert.equal((await world.ask('GET', path)).etag, '"1"');
  });

  inRegistered('with dryRun asks for nothing', async (world) => {
    await world.expect(202, 'POST', `${path}/probe?dryRun=true`);
    assert.deepEqual(await requests(world), {});
  });

  const bad: readonly (readonly [what: string, body: unknown, pointer: string])[] = [
    ['an unknown container', { container: 'x' }, '/container'],
    ['a container without probes', { container: 'c' }, '/container'],
    ['a type that is not probed', { container: 'b', probeType: 'startup' }, '/probeType'],
    ['a type that is none', { probeType: 'health' }, '/probeType'],
    ['an unknown field', { probe: 'a' }, '/probe'],
  ];
  for (const [what, wanted, pointer] of bad)
    inRegistered(`for ${what} is 422`, async (world) => {
      assert.equal((await world.expect(422, 'POST', `${path}/probe`, wanted)).places[0], pointer);
      assert.deepEqual(await requests(world), {});
    });

  test('of an unknown target is 404', async () => void (await apiWorld().expect(404, 'POST', `${path}/probe`)));
});
