/** Repeated keys as the parser itself finds them, in a time that grows with the text. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { parseAllDocuments } from 'yaml';
import { yamlDocuments } from '../../shared/lib/yaml-documents.ts';

const options = { stringKeys: true, prettyErrors: false, logLevel: 'silent' } as const;
const documentsMax = 100;

type Parsed = { readonly errors: readonly { readonly code: string; readonly pos: readonly [number, number] }[] };

/** Before a key the parser may count the blanks behind the value before it. */
const errorsOf =
  (text: string) =>
  ({ errors }: Parsed) =>
    errors.map(({ code, pos }) => `${text.length - text.slice(pos[0]).trimStart().length} ${code}`).sort();
const ours = (text: string) => yamlDocuments(text, { ...options, documentsMax }).map(errorsOf(text));
const parsers = (text: string) =>
  Array.from(parseAllDocuments(text, { ...options, uniqueKeys: true }), (document) => errorsOf(text)(document));

/** Maps of a few keys, in block and flow style, with anchors, tags, quotes and several documents. */
const key = fc.constantFrom('a', 'b', '"a"', "'b'", '? a\n', '&x a', '!!str a', '1', '01', 'true');
const flow: fc.Arbitrary<string> = fc.letrec<{ readonly value: string }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', maxDepth: 3 },
    fc.constantFrom('1', 'x', '""', ''),
    fc
      .array(
        fc.tuple(
          key.filter((each) => !each.includes('\n')),
          tie('value'),
        ),
        { maxLength: 4 },
      )
      .map((entries) => `{ ${entries.map(([name, value]) => `${name} : ${value}`).join(', ')} }`),
    fc.array(tie('value'), { maxLength: 3 }).map((items) => `[ ${items.map((item) => item || '1').join(', ')} ]`),
  ),
})).value;
const block = fc
  .array(
    fc.tuple(
      key.filter((each) => !each.includes('\n')),
      flow,
    ),
    { minLength: 1, maxLength: 5 },
  )
  .map((entries) => entries.map(([name, value]) => `${name}: ${value}\n`).join(''));
const texts = fc.array(block, { minLength: 1, maxLength: 3 }).map((documents) => documents.join('---\n'));

describe('documents of YAML', () => {
  test('have the repeated keys that the parser finds, where it finds them', () =>
    fc.assert(
      fc.property(texts, (text) => assert.deepEqual(ours(text), parsers(text))),
      { numRuns: 500 },
    ));

  for (const [what, text] of Object.entries({
    'the keys of a map': (count: number) => Array.from({ length: count }, (_, at) => `k${at}:`).join('\n'),
    'the keys of a flow map': (count: number) => `{${Array.from({ length: count }, (_, at) => `k${at}:`).join(',')}}`,
    'braces that fit nowhere': (count: number) => '}'.repeat(count),
  }))
    test(`${what} take time in proportion to their number`, () => {
      const msOf = (count: number) => {
        const startMs = process.cpuUsage();
        yamlDocuments(text(count), { ...options, documentsMax });
        const { user, system } = process.cpuUsage(startMs);
        return (user + system) / 1_000;
      };
      const leastOf = (count: number) => Math.min(...Array.from({ length: 3 }, () => msOf(count)));
      leastOf(2_000);
      const [small, large] = [leastOf(2_000), leastOf(16_000)];
      assert.ok(large < 24 * Math.max(small, 1), `${small} ms, and ${large} ms for eight times as many`);
    });

  test('beyond the limit are not parsed', () =>
    assert.equal(yamlDocuments('---\n'.repeat(5_000), { ...options, documentsMax }).length, documentsMax + 2));
});
