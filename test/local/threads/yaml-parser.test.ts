/** YAML of clients, short or long: parsed alike, one after the other, and in turn. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { AskedThread } from '../../../functions/local/threads/asked-thread.ts';
import { type YamlParser, yamlParser } from '../../../functions/local/threads/yaml-parser.ts';
import type { ParsedDocuments } from '../../../shared/api/http/json.ts';
import { systemClock } from '../../../shared/lib/clock.ts';
import { yamlTexts } from '../../fuzz-clients/bodies.ts';

const { signal } = new AbortController();

function parserFor(t: TestContext): YamlParser {
  const parser = yamlParser(systemClock);
  t.after(() => parser.close());
  return parser;
}

/** As long as that with a comment. */
const padded = (text: string, length: number): string => `${text}\n#${' '.repeat(length - text.length - 2)}`;

test('a short text and a long one are parsed alike', async (t) => {
  const parser = parserFor(t);
  const texts = ['a: 010', 'a: 1\n---\nb: [x, y]', 'a: {', 'a: 1\na: 2', 'a: *b'];
  const parsed = async (text: string) => {
    const outcome = await parser.parse(text, signal);
    // Places differ by what pads the text.
    return JSON.parse(JSON.stringify(outcome).replaceAll(/character \d+/g, 'character N'));
  };
  for (const text of texts) {
    const outcomes = await Promise.all([padded(text, 1_024), padded(text, 1_025)].map(parsed));
    assert.deepEqual(outcomes[0], outcomes[1], text);
  }
  assert.deepEqual(await parsed('a: 010'), { kind: 'parsed', documents: [{ a: 8 }] });
});

test('what is waiting for its turn is not parsed once its client has gone, and the next is', async (t) => {
  const parser = parserFor(t);
  const leaving = new AbortController();
  const [first, gone, last] = [signal, leaving.signal, signal].map((each, index) =>
    parser.parse(padded(`a: ${index}`, 2_000), each),
  );
  leaving.abort();
  const reason = 'the client has gone';
  assert.deepEqual(await gone, { kind: 'malformed', reason });
  assert.deepEqual(
    await Promise.all([first, last]),
    [0, 2].map((a) => ({ kind: 'parsed', documents: [{ a }] })),
  );
});

test('the costliest texts leave a third of the memory that the thread may have', async (t) => {
  const url = new URL('../../../functions/local/threads/yaml-thread.ts', import.meta.url);
  const options = { url, heapMbMax: 42, msMax: 30_000, clock: systemClock };
  const thread = new AskedThread<string, ParsedDocuments>(options);
  t.after(() => thread.end());
  for (const [name, text] of Object.entries(yamlTexts(64 * 1024))) {
    const answer = await thread.ask(text, signal);
    assert.notEqual(answer.kind, 'none', `${name}: ${JSON.stringify(answer).slice(0, 200)}`);
  }
});

test('a text of more tokens than a manifest has is refused where they begin', async (t) => {
  const parser = parserFor(t);
  const of = (tokens: number) => parser.parse('#\n'.repeat(tokens / 2), signal);
  assert.equal((await of(32_768)).kind, 'parsed');
  const refused = await of(32_770);
  assert.deepEqual(refused, { kind: 'malformed', reason: 'more than 32768 tokens (at character 32768)' });
});
