import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { codesOf, fromCodes, toBytes, toText, withoutEscapes } from '../../../shared/core/go/bytes.ts';

/** Longer than what one call of the engine takes. */
const long = 100_000;
const texts = fc.string({ unit: 'binary', maxLength: 200 });
const bytes = fc.uint8Array({ maxLength: 200 });

test('a text becomes its UTF-8 bytes', () =>
  fc.assert(fc.property(texts, (text) => assert.equal(toBytes(text), Buffer.from(text, 'utf8').toString('latin1')))));

test('bytes become the text that they are in UTF-8, and U+FFFD where they are none', () => {
  const decoder = new TextDecoder();
  fc.assert(
    fc.property(bytes, (some) => assert.equal(toText(Buffer.from(some).toString('latin1')), decoder.decode(some))),
  );
});

test('codes and characters are the same however many they are', () => {
  const some = Uint8Array.from({ length: long }, (_, at) => at % 256);
  assert.equal(fromCodes(some), Buffer.from(some).toString('latin1'));
  assert.deepEqual(codesOf(fromCodes(some)), some);
});

for (const [written, read] of [
  ['', ''],
  ['a%41%7ab', 'aAzb'],
  ['%fF%00', '\xff\0'],
  ['100%', '100%'],
  ['%4', '%4'],
  ['%%41', '%A'],
  ['%4g%g4%-1', '%4g%g4%-1'],
] as const)
  test(`the escapes of ${JSON.stringify(written)} are read as ${JSON.stringify(read)}`, () =>
    assert.equal(withoutEscapes(written), read));

test('many escapes are read as few are', () =>
  assert.equal(withoutEscapes('%c3%a9/'.repeat(long)), '\xc3\xa9/'.repeat(long)));
