/** Rules of the language that a machine can check: words that the glossary replaces, and the width of prose. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { codeSpansOf, tableRowsOf } from '../support/markdown.ts';
import { commentsOf, longLines, namesOf, proseOf, withoutTables } from '../support/prose.ts';

const root = join(import.meta.dirname, '../..');
const tracked = execFileSync('git', ['ls-files', '-z'], { cwd: root, encoding: 'utf8' })
  .split('\0')
  .filter((path) => path !== '' && existsSync(join(root, path)));
const read = (path: string): string => readFileSync(join(root, path), 'utf8');

const sources = tracked.filter((path) => path.endsWith('.ts'));
/**
 * The folders whose names are read, and those in them that are left out: their words are stored, or about to change.
 */
const namedFolders = ['shared/', 'functions/', 'cdk/'];
const unnamedFolders = ['shared/holder/', 'shared/store/'];
const named = sources.filter(
  (path) =>
    namedFolders.some((folder) => path.startsWith(folder)) && !unnamedFolders.some((folder) => path.startsWith(folder)),
);
const markdown = tracked.filter((path) => path.endsWith('.md'));
const glossary = 'docs/glossary.md';
const notBut = '## Not / but';

const [beforeTable = '', table = ''] = read(glossary).split(notBut);
const banned = tableRowsOf(table).flatMap(([not = '']) => codeSpansOf(not));

/** A word of the list in another form or inside another word is not meant. */
const pattern = new RegExp(`\\b(?:${banned.map((word) => (/\w$/.test(word) ? `${word}\\b` : word)).join('|')})`, 'gi');

const findings = (path: string, text: string): readonly string[] =>
  text
    .split('\n')
    .flatMap((line, index) => (line.match(pattern) ?? []).map((word) => `${path}:${index + 1}: ${word.toLowerCase()}`));

const textOf = (path: string): string => {
  if (path === glossary) return proseOf(beforeTable);
  const text = proseOf(read(path));
  return path === 'docs/semantics.md' ? withoutTables(text) : text;
};

describe('the words that the glossary replaces', () => {
  test('are listed there', () => assert.ok(banned.includes('whoever') && banned.length > 15));

  test('are found in prose and comments, and not in code', () => {
    const source =
      '/** Whoever asks is told, `told` apart. */\nconst whoever = "nobody";\n// See told.ts. The end of it, anew.\n';
    assert.deepEqual(findings('a.ts', commentsOf('a.ts', source)), [
      'a.ts:1: whoever',
      'a.ts:1: told',
      'a.ts:3: of it,',
      'a.ts:3: anew',
    ]);
    const text = 'Nobody\n```sh\necho whoever\n```\n[a story](told.md) `tells`\n| trouble |\n';
    assert.deepEqual(findings('a.md', proseOf(text)), ['a.md:1: nobody', 'a.md:5: story', 'a.md:6: trouble']);
    assert.deepEqual(findings('a.md', withoutTables(proseOf(text))).length, 2);
  });

  test('are in no comment', () => {
    assert.deepEqual(
      sources.flatMap((path) => findings(path, commentsOf(path, read(path)))),
      [],
    );
  });

  test('are found in names, whose words are told apart by capitals', () => {
    const source =
      "const leaveAlone = { degradedTold: 'told' };\n// told\nclass Roster { #giveBack() { history(untold); } }\n";
    assert.deepEqual(findings('a.ts', namesOf('a.ts', source)), [
      'a.ts:1: leave alone',
      'a.ts:1: told',
      'a.ts:3: roster',
      'a.ts:3: give back',
    ]);
  });

  test('are in no name', () => {
    assert.ok(named.length > 100);
    assert.deepEqual(
      named.flatMap((path) => findings(path, namesOf(path, read(path)))),
      [],
    );
  });

  test('are in no document', () => {
    assert.deepEqual(
      markdown.flatMap((path) => findings(path, textOf(path))),
      [],
    );
  });
});

describe('prose', () => {
  const columnsMax = 120;

  test('is found to be wider in paragraphs and lists alone, where it can be broken', () => {
    const long = 'word '.repeat(10);
    const link = '- [a link](https://example.com/a/long/path)\n`code that has many words, all of them one`';
    assert.deepEqual(longLines(`${long}\n| ${long}|\n\`\`\`\n${long}\n\`\`\`\n${link}\n- ${long}`, 40), [
      '1: 50 columns',
      '8: 52 columns',
    ]);
  });

  test(`in comments has at most ${columnsMax} columns`, () => {
    const isWide = (line: string) => line.length > columnsMax && /^\s*(\/?\*|\/\/)/.test(line);
    const wide = sources.flatMap((path) =>
      read(path)
        .split('\n')
        .flatMap((line, at) => (isWide(line) ? `${path}:${at + 1}` : [])),
    );
    assert.deepEqual(wide, []);
  });

  test(`has at most ${columnsMax} columns`, () => {
    const wide = markdown.flatMap((path) => longLines(read(path), columnsMax).map((line) => `${path}:${line}`));
    assert.deepEqual(wide, []);
  });
});
