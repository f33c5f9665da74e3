/** What a misspelled word probably stands for. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { nearest } from '../../shared/lib/nearest.ts';

const options = ['port', 'host', 'data-dir', 'token-file', 'targets-max', 'targets-max-per-namespace', 'help'];
const fields = ['initialDelaySeconds', 'timeoutSeconds', 'periodSeconds', 'successThreshold', 'failureThreshold'];

describe('a slip is mended', () => {
  const cases: readonly (readonly [slip: string, known: readonly string[], meant: string])[] = [
    ['prot', options, 'port'],
    ['ports', options, 'port'],
    ['por', options, 'port'],
    ['pork', options, 'port'],
    ['PORT', options, 'port'],
    ['datadir', options, 'data-dir'],
    ['data_dir', options, 'data-dir'],
    ['target-max', options, 'targets-max'],
    ['periodSecond', fields, 'periodSeconds'],
    ['timeout_seconds', fields, 'timeoutSeconds'],
    ['failureTreshhold', fields, 'failureThreshold'],
  ];
  for (const [slip, known, meant] of cases) test(`${slip}: ${meant}`, () => assert.equal(nearest(slip, known), meant));
});

test('a beginning is completed where no word is spelled like it', () => {
  assert.equal(nearest('token', options), 'token-file');
  assert.equal(nearest('targets', options), 'targets-max');
  assert.equal(nearest('initial', fields), 'initialDelaySeconds');
});

test('a word that resembles none has none', () => {
  for (const word of ['shards', 'verbose', 'xy', 'ta', '']) assert.equal(nearest(word, options), undefined, word);
  assert.equal(nearest('port', []), undefined);
});

test('fewer slips are nearer, and the first of equally near words is named', () => {
  assert.equal(nearest('part', ['parse', 'port', 'pert']), 'port');
  assert.equal(nearest('cost', ['host', 'post']), 'host');
});

test('a word that is too long to be a slip is not compared', () => {
  const long = 'x'.repeat(64);
  assert.equal(nearest(`${long}y`, [long]), undefined);
  assert.equal(nearest(`${long.slice(1)}y`, [long]), long);
});

test('one slip anywhere in any word is mended', () => {
  const word = fc.string({ minLength: 1, maxLength: 60, unit: fc.constantFrom(...'abcdefghij-') });
  const slip = fc.tuple(word, fc.nat(), fc.constantFrom('drop', 'add', 'swap', 'other'));
  fc.assert(
    fc.property(slip, ([known, seed, kind]) => {
      const at = seed % known.length;
      const [before, after] = [known.slice(0, at), known.slice(at + 1)];
      const slips = {
        drop: before + after,
        add: `${before}z${known.slice(at)}`,
        swap: before + after.slice(0, 1) + known.charAt(at) + after.slice(1),
        other: `${before}z${after}`,
      };
      const text = slips[kind as keyof typeof slips];
      assert.equal(nearest(text, [known]), text === '' ? undefined : known);
    }),
  );
});

test('the work is bounded, whatever is asked', () => {
  const known = Array.from({ length: 200 }, (_, index) => `${'a'.repeat(60)}${index}`);
  const startMs = performance.now();
  for (const word of ['b'.repeat(60), 'b'.repeat(1_000_000), 'a'.repeat(64)]) nearest(word, known);
  assert.ok(performance.now() - startMs < 1_000);
});
