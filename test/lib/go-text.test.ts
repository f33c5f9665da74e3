import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { goDuration, goQuote } from '../../shared/lib/go-text.ts';

describe('a duration reads as Go prints it', () => {
  const table: readonly (readonly [ms: number, text: string])[] = [
    [0, '0s'],
    [1, '1ms'],
    [500, '500ms'],
    [1000, '1s'],
    [1500, '1.5s'],
    [2050, '2.05s'],
    [60_000, '1m0s'],
    [61_500, '1m1.5s'],
    [3_600_000, '1h0m0s'],
  ];
  for (const [ms, text] of table) test(`${ms} ms is ${text}`, () => assert.equal(goDuration(ms), text));
});

describe('a text is quoted as Go quotes it', () => {
  const table: readonly (readonly [text: string, quoted: string])[] = [
    ['', '""'],
    ['sleep 60', '"sleep 60"'],
    ['a"b\\c', '"a\\"b\\\\c"'],
    ['tab\tline\nbell\x07', '"tab\\tline\\nbell\\a"'],
    ['\x00\x7f', '"\\x00\\x7f"'],
    ['zürich 水', '"zürich 水"'],
    ['\u00a0\u200b', '"\\u00a0\\u200b"'],
    ['\u{e0001}', '"\\U000e0001"'],
  ];
  for (const [text, quoted] of table) test(quoted, () => assert.equal(goQuote(text), quoted));
});
