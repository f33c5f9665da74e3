/** The walk before `JSON.parse` changes nothing of what is accepted, but for what is too much. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { depthMax, parseJson, parseLargeJson, valuesMax } from '../../shared/api/http/json.ts';

const pause = async () => undefined;

/** What `JSON.parse` says of it: the value, or that there is none. */
function reference(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) };
  } catch {
    return undefined;
  }
}

/** Of a parsed text the value; undefined if it is malformed. */
const found = (parsed: ReturnType<typeof parseJson>) =>
  parsed.kind === 'parsed' ? { value: parsed.documents[0] } : undefined;

/** A long list in an object, whose pieces are parsed one by one, with a little of anything around it. */
const long = fc
  .tuple(
    fc.json({ maxDepth: 2 }),
    fc.json({ maxDepth: 2 }),
    fc.nat(40_000),
    fc.constantFrom('items', '__proto__', 'a"\\'),
  )
  .map(([entry, other, spaces, name]) => {
    const entries = Array.from({ length: 200 }, (_, at) => (at % 50 === 0 ? `${' '.repeat(spaces)}${entry}` : entry));
    return `{"b":[${other}],${JSON.stringify(name)}:[${entries.join(',')}],"c":${other}}`;
  });

/** With a mistake somewhere. */
const broken = (texts: fc.Arbitrary<string>) =>
  fc
    .tuple(texts, fc.nat(), fc.constantFrom('', '"', '\\', '{', '}', '[', ']', ':', ',', ',,', '\\u12', '\n'))
    .map(([text, place, put]) => {
      const at = place % (text.length + 1);
      return text.slice(0, at) + put + text.slice(at);
    });
/** At a comma or bracket. */
const brokenEntries = fc
  .tuple(long, fc.nat(), fc.constantFrom(',', '[', ']', '{', '}', '"', ''))
  .map(([text, place, put]) => {
    const commas = [...text.matchAll(/[[\],]/g)].map(({ index }) => index);
    const at = commas[place % commas.length] ?? 0;
    return text.slice(0, at) + put + text.slice(at + 1);
  });

/** A repeated key is the only thing that `JSON.parse` takes and the API does not. */
const isRepeated = (parsed: ReturnType<typeof parseJson>) =>
  parsed.kind === 'malformed' && parsed.reason.startsWith('duplicate key');

describe('JSON of a body', () => {
  for (const [what, texts] of Object.entries({
    'that is well-formed': fc.json({ maxDepth: 4 }),
    'with a mistake': broken(fc.json({ maxDepth: 4 })),
    'with a long list': long,
    'with a long list and a mistake': broken(long),
    'with a long list and a mistake between its entries': brokenEntries,
  }))
    test(`${what} is read as JSON.parse reads it`, async () =>
      fc.assert(
        fc.asyncProperty(texts, async (text) => {
          const parsed = parseJson(text);
          if (!isRepeated(parsed)) assert.deepEqual(found(parsed), reference(text));
          const large = await parseLargeJson(text, valuesMax, pause);
          assert.deepEqual(large, parsed);
        }),
        { numRuns: what.includes('long') ? 150 : 1_000 },
      ));

  test('may not repeat a key, however it is written', () => {
    for (const text of ['{"a":1,"a":2}', '{"a":1,"\\u0061":2}', '{"b":{"a":1,"c":[],"a":1}}', '[{"":1,"":1}]'])
      assert.ok(isRepeated(parseJson(text)), text);
    for (const text of ['{"a":{"a":1}}', '[{"a":1},{"a":1}]', '{"a":"a","b":"a"}', '{"a\\"":1,"a":2}'])
      assert.equal(parseJson(text).kind, 'parsed', text);
  });

  test('may have so many values and levels, and is not parsed beyond', (t) => {
    const parse = t.mock.method(JSON, 'parse');
    const list = (count: number) => `[${'1,'.repeat(count - 2)}1]`;
    const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth);
    for (const text of [list(valuesMax), nested(depthMax)]) assert.equal(parseJson(text).kind, 'parsed');
    const before = parse.mock.callCount();
    assert.deepEqual(parseJson(list(valuesMax + 1)), { kind: 'malformed', reason: `more than ${valuesMax} values` });
    assert.deepEqual(parseJson(nested(depthMax + 1)), { kind: 'malformed', reason: `nested deeper than ${depthMax}` });
    assert.equal(parse.mock.callCount(), before);
  });

  test('is walked in pieces if it is large', async () => {
    let pauses = 0;
    const text = JSON.stringify({ names: Array.from({ length: 50_000 }, (_, at) => `target-${at}`) });
    const counted = async () => {
      pauses += 1;
    };
    assert.equal((await parseLargeJson(text, 100_000, counted)).kind, 'parsed');
    assert.ok(pauses >= text.length / 65_536, `${pauses} pauses`);
  });
});
