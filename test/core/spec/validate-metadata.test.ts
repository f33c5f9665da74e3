import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { metadataProblems, sizeProblems } from '../../../shared/core/spec/validate-metadata.ts';
import { column } from '../../support/columns.ts';

const good = { namespace: 'default', name: 'checkout.v2' };
const texts = (count: number, value: string) =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${index}`, value]));

const refused: readonly (readonly [name: string, fields: object, ...pointers: string[]])[] = [
  ['a namespace with a dot', { namespace: 'a.b' }, '/metadata/namespace'],
  ['a namespace of 64 characters', { namespace: 'a'.repeat(64) }, '/metadata/namespace'],
  ['an empty name', { name: '' }, '/metadata/name'],
  ['a name with a slash', { name: 'a/b' }, '/metadata/name'],
  ['a name of 254 characters', { name: `${'a.'.repeat(126)}ab` }, '/metadata/name'],
  ['a label key with two slashes', { labels: { 'a/b/c': '' } }, '/metadata/labels/a~1b~1c'],
  ['a label value with a space', { labels: { a: 'b c' } }, '/metadata/labels/a'],
  ['a label key whose prefix has capitals', { labels: { 'Example.com/a': '' } }, '/metadata/labels/Example.com~1a'],
  ['65 labels', { labels: texts(65, '') }, '/metadata/labels'],
  ['an annotation key with a space', { annotations: { 'a b': '' } }, '/metadata/annotations/a b'],
  ['too large annotations', { annotations: texts(3, 'x'.repeat(3_000)) }, '/metadata/annotations'],
];

describe('metadata is refused for', () => {
  for (const [name, fields, ...pointers] of refused)
    test(name, () => {
      const problems = metadataProblems({ ...good, ...fields });
      assert.deepEqual(column(problems, 'pointer'), pointers);
    });
});

test('metadata as Kubernetes takes it is accepted', () => {
  const labels = { 'example.com/team': 'shop', app: 'Checkout_1.x', empty: '' };
  assert.deepEqual(metadataProblems({ ...good, labels, annotations: { note: 'anything at all\n' } }), []);
  assert.deepEqual(metadataProblems({ ...good, annotations: { 'EXAMPLE.COM/X': '', X: '' } }), []);
});

test('a target that would not fit its item is refused', () => {
  assert.deepEqual(sizeProblems({ metadata: good, spec: { host: 'x' } }), []);
  assert.equal(sizeProblems({ metadata: good, spec: { host: 'x'.repeat(32 * 1024) } }).length, 1);
});

test('a target has 28 KiB, so that what the server adds fits into an item of 32 KiB', () => {
  const metadata = { namespace: 'default', name: 'checkout' };
  const others = JSON.stringify({ metadata, spec: { host: '' } }).length;
  const problemsOf = (bytes: number) => sizeProblems({ metadata, spec: { host: 'a'.repeat(bytes - others) } });
  assert.deepEqual(problemsOf(28 * 1_024), []);
  assert.equal(problemsOf(28 * 1_024 + 1).length, 1);
});
