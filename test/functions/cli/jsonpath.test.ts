/** Templates of `-o jsonpath` against what kubectl's own code makes of them. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { foundBy, printAsJson, printTemplate, relaxedTemplate } from '../../../functions/cli/jsonpath/jsonpath.ts';
import { JsonpathError, parseTemplate } from '../../../functions/cli/jsonpath/parser.ts';

type Case = readonly [template: string, prints?: string];
type Recorded = { readonly groups: readonly { readonly input: unknown; readonly cases: readonly Case[] }[] };
const recorded: Recorded = JSON.parse(readFileSync(new URL('jsonpath-cases.json', import.meta.url), 'utf8'));

const printed = (template: string, input: unknown): string => printTemplate(parseTemplate(template), input);
const isRefusal = (error: unknown): boolean => error instanceof JsonpathError;
/** Go's maps print their members by name. */
const sorted = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).map(([name, member]) => [name, sorted(member)] as const);
  return Object.fromEntries(members.toSorted(([a], [b]) => (a < b ? -1 : 1)));
};

describe('a template prints what it prints for kubectl', () => {
  for (const { input, cases } of recorded.groups)
    for (const [template, prints] of cases)
      test(template, () => {
        if (prints === undefined) assert.throws(() => printed(template, input), isRefusal);
        else assert.equal(printed(template, sorted(input)), prints);
      });
});

test('members stand in the order of the value, of which kubectl has none', () => {
  assert.equal(printed('{..name}', { a: { name: 'x', b: { name: 'y' } }, name: 'z' }), 'z x y');
  assert.equal(printed('{.*}', { b: 1, a: [2] }), '1 [2]');
  assert.equal(printed('{@}', { b: 1, a: null }), '{"b":1,"a":null}');
});

test('numbers are compared whatever their kind, which Go refuses', () =>
  assert.equal(printed('{[?(@.value>3)].name}', [{ name: 'a', value: 3.5 }]), 'a'));

test('each path is a JSON array of its own with jsonpath-as-json', () =>
  assert.equal(printAsJson(parseTemplate('{.a}{.b}'), { a: [1] }), '[\n    [\n        1\n    ]\n]\n[]\n'));

test("columns and --sort-by take a path with and without its braces, as kubectl's do", () => {
  for (const path of ['metadata.name', '.metadata.name', '{metadata.name}', '{.metadata.name}'])
    assert.deepEqual(foundBy(relaxedTemplate(path), { metadata: { name: 'a' } }), ['a'], path);
  assert.deepEqual(foundBy(relaxedTemplate('.nope'), {}), []);
  for (const path of ['{.a}{.b}', '{', '']) assert.throws(() => relaxedTemplate(path), isRefusal, path);
});

test('what is too large is refused', () => {
  assert.throws(() => parseTemplate('x'.repeat(10_001)), /more than 10000 characters/);
  assert.throws(() => parseTemplate('{range .a}'.repeat(101)), /more than 100 ranges/);
  const wide = Array.from({ length: 3_000 }, () => Array.from({ length: 3_000 }, () => 1));
  assert.throws(() => printed('{[*][*]}', wide), /more than 5000000 values/);
});
