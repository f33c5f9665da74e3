import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { mergePatch } from '../../shared/api/merge-patch.ts';
import { apiWorld, manifest, targetPath } from './world.ts';

const path = targetPath('checkout');

/** Appendix A of RFC 7396. */
const rows: readonly (readonly [target: unknown, patch: unknown, result: unknown])[] = [
  [{ a: 'b' }, { a: 'c' }, { a: 'c' }],
  [{ a: 'b' }, { b: 'c' }, { a: 'b', b: 'c' }],
  [{ a: 'b' }, { a: null }, {}],
  [{ a: 'b', b: 'c' }, { a: null }, { b: 'c' }],
  [{ a: ['b'] }, { a: 'c' }, { a: 'c' }],
  [{ a: 'c' }, { a: ['b'] }, { a: ['b'] }],
  [{ a: { b: 'c' } }, { a: { b: 'd', c: null } }, { a: { b: 'd' } }],
  [{ a: [{ b: 'c' }] }, { a: [1] }, { a: [1] }],
  [
    ['a', 'b'],
    ['c', 'd'],
    ['c', 'd'],
  ],
  [{ a: 'b' }, ['c'], ['c']],
  [{ a: 'foo' }, null, null],
  [{ a: 'foo' }, 'bar', 'bar'],
  [{ e: null }, { a: 1 }, { e: null, a: 1 }],
  [[1, 2], { a: 'b', c: null }, { a: 'b' }],
  [{}, { a: { bb: { ccc: null } } }, { a: { bb: {} } }],
];

describe('a merge patch does what RFC 7396 says', () => {
  for (const [target, patch, result] of rows)
    test(`${JSON.stringify(target)} + ${JSON.stringify(patch)}`, () =>
      assert.deepEqual(mergePatch(target, patch), result));

  test('a patch cannot reach the prototype', () => {
    mergePatch({}, JSON.parse('{"__proto__": {"polluted": true}}'));
    assert.equal(Object.hasOwn(Object.prototype, 'polluted'), false);
  });
});

async function registered() {
  const world = apiWorld();
  await world.request('PUT', path, { body: { ...manifest(), metadata: { labels: { a: 'b', c: 'd' } } } });
  return world;
}

describe('PATCH', () => {
  test('changes what it names and keeps the rest', async () => {
    const world = await registered();
    const body = { metadata: { labels: { a: null, e: 'f' } }, spec: { host: '127.0.0.9' } };
    const response = await world.request('PATCH', path, { body });
    assert.equal(response.status, 200);
    assert.equal(response.headers.get('etag'), '"2"');
    const shown = (await response.json()) as { readonly metadata: { readonly labels: object }; readonly spec: object };
    assert.deepEqual(shown.metadata.labels, { c: 'd', e: 'f' });
    assert.partialDeepStrictEqual(shown.spec, { host: '127.0.0.9', containers: [{ name: 'main' }] });
  });

  test('in YAML is taken too', async () => {
    const world = await registered();
    const headers = { 'content-type': 'application/merge-patch+yaml' };
    const response = await world.request('PATCH', path, { body: 'spec: { host: 127.0.0.9 }', headers });
    assert.equal(response.status, 200);
  });

  test('that changes nothing keeps the resourceVersion', async () => {
    const world = await registered();
    const response = await world.request('PATCH', path, { body: { spec: { host: '127.0.0.1' } } });
    assert.equal(response.headers.get('etag'), '"1"');
  });

  test('of another media type is 415 and says what is taken', async () => {
    const world = await registered();
    for (const type of ['application/json', 'application/json-patch+json', 'application/strategic-merge-patch+json']) {
      const response = await world.request('PATCH', path, { body: '{}', headers: { 'content-type': type } });
      assert.equal(response.status, 415);
      assert.equal(response.headers.get('accept-patch'), 'application/merge-patch+json, application/merge-patch+yaml');
    }
  });

  test('whose outcome is not valid is 422 and changes nothing', async () => {
    const world = await registered();
    const before = await world.items('checkout');
    const bodies = [
      { spec: { host: null } },
      { spec: { containers: null } },
      { spec: { unknown: 1 } },
      { spec: null },
      [],
      'x',
      7,
    ];
    for (const body of bodies) {
      const response = await world.request('PATCH', path, { body: JSON.stringify(body) });
      assert.equal(response.status, 422, JSON.stringify(body));
    }
    assert.deepEqual(await world.items('checkout'), before);
  });

  test('of an unknown target is 404, with a stale tag 412, of a terminating one 409', async () => {
    const world = await registered();
    assert.equal((await world.request('PATCH', targetPath('nobody'), { body: {} })).status, 404);
    const stale = await world.request('PATCH', path, { body: {}, headers: { 'if-match': '"7"' } });
    assert.equal(stale.status, 412);
    await world.request('DELETE', path);
    assert.equal((await world.request('PATCH', path, { body: {} })).status, 409);
  });

  test('with dryRun shows the outcome and stores nothing', async () => {
    const world = await registered();
    const before = await world.items('checkout');
    const response = await world.request('PATCH', `${path}?dryRun=true`, { body: { spec: { host: '127.0.0.9' } } });
    assert.equal(((await response.json()) as { spec: { host: string } }).spec.host, '127.0.0.9');
    assert.deepEqual(await world.items('checkout'), before);
  });

  test('at the same time as others loses none of the changes', async () => {
    const world = await registered();
    const labels = ['p', 'q', 'r', 's'];
    await Promise.all(
      labels.map((label) => world.request('PATCH', path, { body: { metadata: { labels: { [label]: 'x' } } } })),
    );
    const shown = (await (await world.request('GET', path)).json()) as { metadata: { labels: object } };
    assert.deepEqual(Object.keys(shown.metadata.labels).sort(), ['a', 'c', ...labels]);
  });

  test('names what it did not store', async () => {
    const world = await registered();
    const response = await world.request('PATCH', path, { body: { spec: { nodeName: 'n' } } });
    assert.equal(response.headers.get('warning'), '299 - "not stored, does not concern probing: spec.nodeName"');
  });
});
