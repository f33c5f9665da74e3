/** What a receiver answers is shown without the secrets of its address, which it may repeat. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { answerLine } from '../../../functions/local/alerts/answer-line.ts';

const webhook = (url: string) => ({ kind: 'slack', name: 'ops', url }) as const;

test('words of an address with eight characters and more are secrets, shorter ones are not', () => {
  for (const [url, said, shown] of [
    ['https://hooks.test/abcdefgh', 'no abcdefgh here', 'no *** here'],
    ['https://hooks.test/services/abcdefg', 'abcdefg', 'abcdefg'],
    ['https://hooks.test/?token=abcdefgh&v=1', 'abcdefgh', '***'],
    ['https://hooks.test/?v=abcdefg', 'abcdefg', 'abcdefg'],
    ['https://operator:password@hooks.test/', 'password of operator', '*** of ***'],
    ['https://hooks.test/a%20b%20c%20d%20e', 'a b c d e', '***'],
    ['https://hooks.test/abcdefgh', 'POST https://hooks.test/abcdefgh', 'POST ***'],
  ] as const)
    assert.equal(answerLine(said, webhook(url)), shown, url);
});

test('a longer secret is not left in part by a shorter one', () => {
  const answer = answerLine('key=abcdefgh-abcdefgh-1', webhook('https://hooks.test/abcdefgh/abcdefgh-abcdefgh-1'));
  assert.equal(answer, 'key=***');
});

test('the answer is one short line of ASCII', () => {
  const line = answerLine(` \u001b[31mredé\r\n\u202e${'x'.repeat(1_000)}`, webhook('https://hooks.test/'));
  assert.match(line, /^[\x20-\x7e]{200}$/);
  assert.ok(line.startsWith('[31mred'));
});
