/** What annotations say in place of the fields that a Pod does not have. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
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

type Answer = {
  readonly spec?: { readonly lifecycle?: string };
  readonly errors?: readonly { readonly pointer: string; readonly detail: string }[];
};

const worldWith = async (annotations: object, spec?: object) => {
  const world = apiWorld();
  const ask = async (method: string, body: unknown, url = path) => {
    const response = await world.request(method, url, { body });
    const { spec: shown, errors } = (await response.json()) as Answer;
    return { status: response.status, lifecycle: shown?.lifecycle, errors };
  };
  return { world, ask, put: await ask('PUT', pod(annotations, spec)) };
};

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

  test('so it takes reports', async () => {
    const { ask } = await worldWith({ [annotation]: 'reported' });
    const report = { status: { containerStatuses: [{ name: 'web', containerID: 'containerd://1' }] } };
    assert.equal((await ask('PUT', report, `${path}/status`)).status, 200);
  });
});

describe('an annotation that cannot be followed is 422 and stores nothing', () => {
  const rows: readonly (readonly [what: string, annotations: object, spec: object, pointer: string, detail: string])[] =
    [
      ['another value', { [annotation]: 'managed' }, {}, pointer, 'must be one of static, reported'],
      ['an empty value', { [annotation]: '' }, {}, pointer, 'must be one of static, reported'],
      ['capitals', { [annotation]: 'Reported' }, {}, pointer, 'must be one of static, reported'],
      [
        'a contradiction of the spec',
        { [annotation]: 'reported' },
        { lifecycle: 'static' },
        pointer,
        'must be absent, or static as spec.lifecycle is',
      ],
      [
        'a misspelt name',
        { 'probelet.dev/lifecylce': 'reported' },
        {},
        '/metadata/annotations/probelet.dev~1lifecylce',
        'unknown annotation (did you mean probelet.dev/lifecycle?)',
      ],
      [
        'a name of no use',
        { 'probelet.dev/x': 'y' },
        {},
        '/metadata/annotations/probelet.dev~1x',
        'unknown annotation',
      ],
    ];
  for (const [what, annotations, spec, at, detail] of rows)
    test(what, async () => {
      const { world, put } = await worldWith(annotations, spec);
      assert.deepEqual([put.status, put.errors], [422, [{ pointer: at, detail }]]);
      assert.equal(await world.everything(), 0);
    });

  test('those of others are theirs', async () =>
    assert.equal((await worldWith({ 'probelet.devs/lifecycle': 'x', lifecycle: 'y' })).put.status, 201));
});

describe('a patch', () => {
  test('of the annotation changes the lifecycle, and removes it with the annotation', async () => {
    const { ask } = await worldWith({ [annotation]: 'reported' });
    const annotate = (value: string | null) => ({ metadata: { annotations: { [annotation]: value } } });
    assert.equal((await ask('PATCH', annotate('static'))).lifecycle, 'static');
    assert.equal((await ask('PATCH', annotate('reported'))).lifecycle, 'reported');
    assert.equal((await ask('PATCH', annotate(null))).lifecycle, 'static');
  });

  test('of the spec alone contradicts the annotation', async () => {
    const { ask } = await worldWith({ [annotation]: 'reported' });
    const patched = await ask('PATCH', { spec: { lifecycle: 'static' } });
    assert.deepEqual(patched.errors, [{ pointer, detail: 'must be absent, or static as spec.lifecycle is' }]);
  });

  test('of something else leaves the lifecycle as it is', async () => {
    const { ask } = await worldWith({ [annotation]: 'reported' });
    assert.equal((await ask('PATCH', { metadata: { labels: { a: 'b' } } })).lifecycle, 'reported');
  });
});

test('what GET shows can be PUT again and changes nothing', async () => {
  const { world } = await worldWith({ [annotation]: 'reported' });
  const shown = await (await world.request('GET', path)).text();
  const response = await world.request('PUT', path, { body: shown });
  assert.deepEqual([response.status, response.headers.get('etag')], [200, '"1"']);
});
