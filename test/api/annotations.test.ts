/** What annotations say in place of the fields that a Pod does not have. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { testsIn } from '../support/tests-in.ts';
import { apiWorld, targetPath } from './world.ts';

const path = targetPath('web');
const annotation = 'probelet.dev/lifecycle';
const pointer = '/metadata/annotations/probelet.dev~1lifecycle';

const pod = (annotations: object, spec: object = {}) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { annotations: { 'probelet.dev/host': '127.0.0.1', ...annotations } },
  spec: { ...spec, containers: [{ name: 'web', livenessProbe: { tcpSocket: { port: 80 } } }] },
});

const worldWith = async (annotations: object, spec?: object) => {
  const world = apiWorld();
  const ask = async (method: string, body: unknown, url = path) => {
    const answer = await world.ask(method, url, body);
    return { status: answer.status, lifecycle: answer.body.spec?.lifecycle, errors: answer.body.errors };
  };
  return { world, ask, put: await ask('PUT', pod(annotations, spec)) };
};

const inReported = testsIn(() => worldWith({ [annotation]: 'reported' }));

describe('the lifecycle of a Pod is that of its annotation', () => {
  const rows: readonly (readonly [what: string, annotations: object, spec: object, lifecycle: string])[] = [
    ['reported', { [annotation]: 'reported' }, {}, 'reported'],
    ['static', { [annotation]: 'static' }, {}, 'static'],
    ['static without one', {}, {}, 'static'],
    ['that of the spec without one', {}, { lifecycle: 'reported' }, 'reported'],
    ['that of both where they agree', { [annotation]: 'reported' }, { lifecycle: 'reported' }, 'reported'],
  ];
  for (const [what, annotations, spec, lifecycle] of rows)
    test(what, async () => assert.deepEqual((await worldWith(annotations, spec)).put.lifecycle, lifecycle));

  inReported('so it takes reports', async ({ ask }) => {
    const report = { status: { containerStatuses: [{ name: 'web', containerID: 'containerd://1' }] } };
    assert.equal((await ask('PUT', report, `${path}/status`)).status, 200);
  });
});

describe('an annotation that cannot be followed is 422 and stores nothing', () => {
  const values = 'must be one of static, reported';
  const contradiction = 'must be absent, or static as spec.lifecycle is';
  const meant = 'unknown annotation (did you mean probelet.dev/lifecycle?)';
  const rows: readonly (readonly [what: string, name: string, value: string, detail: string, spec?: object])[] = [
    ['another value', 'lifecycle', 'managed', values],
    ['an empty value', 'lifecycle', '', values],
    ['capitals', 'lifecycle', 'Reported', values],
    ['a contradiction of the spec', 'lifecycle', 'reported', contradiction, { lifecycle: 'static' }],
    ['a misspelt name', 'lifecylce', 'reported', meant],
    ['a name of no use', 'x', 'y', 'unknown annotation'],
  ];
  for (const [what, name, value, detail, spec] of rows)
    test(what, async () => {
      const { world, put } = await worldWith({ [`probelet.dev/${name}`]: value }, spec);
      const at = `/metadata/annotations/probelet.dev~1${name}`;
      assert.deepEqual([put.status, put.errors], [422, [{ pointer: at, detail }]]);
      assert.equal(await world.everything(), 0);
    });

  test('those of others are theirs', async () =>
    assert.equal((await worldWith({ 'probelet.devs/lifecycle': 'x', lifecycle: 'y' })).put.status, 201));
});

describe('a patch', () => {
  inReported('of the annotation changes the lifecycle, and removes it with the annotation', async ({ ask }) => {
    const annotate = (value: string | null) => ({ metadata: { annotations: { [annotation]: value } } });
    assert.equal((await ask('PATCH', annotate('static'))).lifecycle, 'static');
    assert.equal((await ask('PATCH', annotate('reported'))).lifecycle, 'reported');
    assert.equal((await ask('PATCH', annotate(null))).lifecycle, 'static');
  });

  inReported('of the spec alone contradicts the annotation', async ({ ask }) => {
    const patched = await ask('PATCH', { spec: { lifecycle: 'static' } });
    assert.deepEqual(patched.errors, [{ pointer, detail: 'must be absent, or static as spec.lifecycle is' }]);
  });

  inReported('of something else leaves the lifecycle as it is', async ({ ask }) =>
    assert.equal((await ask('PATCH', { metadata: { labels: { a: 'b' } } })).lifecycle, 'reported'),
  );
});

inReported('what GET shows can be PUT again and changes nothing', async ({ world }) => {
  const { etag } = await world.expect(200, 'PUT', path, (await world.ask('GET', path)).text);
  assert.equal(etag, '"1"');
});
