/**
 * docs/adr/README.md: each record is in one group, under its title, both sides of an amendment name each other, and the
 * page that says what holds today is named by the group and by each of its records.
 */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { tableRowsOf } from '../support/markdown.ts';

const folder = join(import.meta.dirname, '../../docs/adr');
const read = (file: string) => readFileSync(join(folder, file), 'utf8');
const records = readdirSync(folder).filter((file) => /^\d/.test(file));
const rows = tableRowsOf(read('README.md'));

/** The numbers that follow a word of the status, such as `amends 8, 9`. */
const named = (status: string, word: string): readonly number[] =>
  (new RegExp(`${word} ([\\d, ]+)`).exec(status)?.[1] ?? '')
    .split(',')
    .filter((text) => text.trim())
    .map(Number);

/** `<one> <other>` for each relation that rows name by this word, the later record first. */
const relations = (word: 'amends' | 'amended by' | 'supersedes' | 'superseded by') =>
  rows
    .flatMap(([number, , status = '']) =>
      named(status, word).map((other) => [Number(number), other].sort((one, next) => next - one).join(' ')),
    )
    .sort();

describe('the index of decision records', () => {
  test('has each record exactly once, with its number and title', () => {
    const expected = records.map((file) => {
      const [, number = '', title = ''] = /^# (\d+)\. (.+)$/m.exec(read(file)) ?? [];
      return `${number} [${title}](${file})`;
    });
    const listed = rows.map(([number, link]) => `${number} ${link}`);
    assert.deepEqual(listed.toSorted(), expected.toSorted());
  });

  test('gives each record a status', () => {
    const odd = rows.filter(([, , status = '']) => !/^(accepted|superseded by \d+)(; |$)/.test(status));
    assert.deepEqual(odd, []);
  });

  test('names an amendment in both records', () => {
    assert.notEqual(relations('amends').length, 0);
    assert.deepEqual(relations('amends'), relations('amended by'));
    assert.deepEqual(relations('supersedes'), relations('superseded by'));
  });

  test('names the current page of each group, as each of its records does', () => {
    const [, ...groups] = read('README.md').split(/^## /m);
    assert.notEqual(groups.length, 0);
    for (const group of groups) {
      const [, page = ''] = /^Today: (\[.+\]\(.+\))\.$/m.exec(group) ?? [];
      const odd = tableRowsOf(group)
        .map(([, link = '']) => /\(([^)]+)\)$/.exec(link)?.[1] ?? '')
        .filter((file) => !read(file).includes(`\n\nHistory. What holds today: ${page}.\n\n`));
      assert.deepEqual(odd, []);
    }
  });
});
