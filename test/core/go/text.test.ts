import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { goQuote } from '../../../shared/core/go/text.ts';

describe('a text is quoted as Go quotes it', () => {
  const table: readonly (readonly [text: string, quoted: string])[] = [
    ['', '""'],
    ['sleep 60', '"sleep 60"'],
    ['a"b\\c', '"a\\"b\\\\c"'],
    ['tab\tline\nbell\x07', '"tab\\tline\\nbell\\a"'],
    ['\x00\x7f', '"\\x00\\x7f"'],
    ['zürich 水', '"zürich 水"'],
    ['\u00a0\u200b', '"\\u00a0\\u200b"'],
    ['\uffff\u{1fffe}', '"\\uffff\\U0001fffe"'],
    ['\u{e0001}', '"\\U000e0001"'],
  ];
  for (const [text, quoted] of table) test(quoted, () => assert.equal(goQuote(text), quoted));
});
