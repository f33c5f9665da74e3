import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { mergePatch } from '../../shared/api/http/merge-patch.ts';
import { testsIn } from '../support/tests-in.ts';
import { manifest, registered, targetPath } from './world.ts';

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

const labelled = () => registered({ ...manifest(), metadata: { labels: { a: 'b', c: 'd' } } });

const inLabelled = testsIn(() => labelled());

describe('PATCH', () => {
  inLabelled('changes what it names and keeps the rest', async (world) => {
    const patch = { metadata: { labels: { a: null, e: 'f' } }, spec: { host: '127.0.0.9' } };
    const { etag, body } = await world.expect(200, 'PATCH', path, patch);
    assert.equal(etag, '"2"');
    assert.deepEqual(body.metadata.labels, { c: 'd', e: 'f' });
    assert.partialDeepStrictEqual(body.spec, { host: '127.0.0.9', containers: [{ name: 'main' }] });
  });

  test('in YAML is taken too', async () => {
    const headers = { 'content-type': 'application/merge-patch+yaml' };
    await (await labelled()).expect(200, 'PATCH', path, 'spec: { host: 127.0.0.9 }', headers);
  });

  inLabelled('that changes nothing keeps the resourceVersion', async (world) =>
    assert.equal((await world.ask('PATCH', path, { spec: { host: '127.0.0.1' } })).etag, '"1"'),
  );

  inLabelled('of another media type is 415 and says what is taken', async (world) => {
    for (const type of ['application/json', 'application/json-patch+json', 'application/strategic-merge-patch+json']) {
      const { headers } = await world.expect(415, 'PATCH', path, '{}', { 'content-type': type });
      assert.equal(headers.get('accept-patch'), 'application/merge-patch+json, application/merge-patch+yaml');
    }
  });

  inLabelled('whose outcome is not valid is 422 and changes nothing', async (world) => {
    const before = await world.items('checkout');
    const specs = [{ host: null }, { containers: null }, { unknown: 1 }, null];
    for (const patch of [...specs.map((spec) => ({ spec })), [], '"x"', 7])
      await world.expect(422, 'PATCH', path, patch);
    assert.deepEqual(await world.items('checkout'), before);
  });

  inLabelled('of an unknown target is 404, with a stale tag 412, of a terminating one 409', async (world) => {
    await world.expect(404, 'PATCH', targetPath('nobody'), {});
    await world.expect(412, 'PATCH', path, {}, { 'if-match': '"7"' });
    await world.ask('DELETE', path);
    await world.expect(409, 'PATCH', path, {});
  });

  inLabelled('with dryRun shows the outcome and stores nothing', async (world) => {
    const before = await world.items('checkout');
    const { body } = await world.ask('PATCH', `${path}?dryRun=true`, { spec: { host: '127.0.0.9' } });
    assert.equal(body.spec.host, '127.0.0.9');
    assert.deepEqual(await world.items('checkout'), before);
  });

  inLabelled('at the same time as others loses none of the changes', async (world) => {
    const labels = ['p', 'q', 'r', 's'];
    await Promise.all(labels.map((label) => world.ask('PATCH', path, { metadata: { labels: { [label]: 'x' } } })));
    const { metadata } = (await world.ask('GET', path)).body;
    assert.deepEqual(Object.keys(metadata.labels).sort(), ['a', 'c', ...labels]);
  });

  test('names what it did not store', async () => {
    const { warning } = await (await labelled()).ask('PATCH', path, { spec: { nodeName: 'n' } });
    assert.equal(warning, '299 - "not stored, does not concern probing: spec.nodeName"');
  });
});
