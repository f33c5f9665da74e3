/** The table of docs/threats.md: every party that could attack has rows, and each row names a test that exists. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { tableRowsOf } from '../support/markdown.ts';
import { namedTestProblems } from '../support/named-tests.ts';

const rows = tableRowsOf(readFileSync(join(import.meta.dirname, '../../docs/threats.md'), 'utf8'));

/** Who could attack a prober. */
const parties = [
  'a probed peer',
  'an API caller without a token',
  'an API caller with a token',
  'a web page in an operator’s browser',
  'another local user',
  'another tenant of the AWS account',
  'another namespace',
  'a writer on the event bus',
];

describe('the threats in docs/threats.md', () => {
  test('have a row for every party, and none for another', () => {
    assert.deepEqual(new Set(rows.map(([party]) => party)), new Set(parties));
  });

  test('say in each row what is tried and what prevents it', () => {
    const wrong = rows.filter((row) => row.length !== 4 || row.some((cell) => cell === ''));
    assert.deepEqual(wrong, []);
  });

  test('name in each row a test that exists', () => {
    const wrong = rows.flatMap((row) => namedTestProblems(row[3] ?? '').map((problem) => `${row[1]}: ${problem}`));
    assert.deepEqual(wrong, []);
  });
});
