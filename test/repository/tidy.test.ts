/** Rules of the repository that a machine can check. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { basename, dirname, join, normalize } from 'node:path';
import { describe, test } from 'node:test';
import { anchorsOf, codeSpansOf, linksOf, withoutFences } from '../support/markdown.ts';

const root = join(import.meta.dirname, '../..');
const tracked = execFileSync('git', ['ls-files', '-z'], { cwd: root, encoding: 'utf8' })
  .split('\0')
  .filter((path) => path !== '' && existsSync(join(root, path)));
const read = (path: string): string => readFileSync(join(root, path), 'utf8');

const production = tracked.filter((path) => /^(shared|functions|cdk)\/.*\.ts$/.test(path));
const markdown = tracked.filter((path) => path.endsWith('.md'));
const records = tracked.filter((path) => /^docs\/adr\/\d/.test(path));
/** Text that people wrote: not packed vectors, nor the lock, which is npm's. */
const written = tracked.filter((path) => !path.endsWith('.gz') && path !== 'package-lock.json');

/** Where in which files the pattern occurs. */
const found = (paths: readonly string[], pattern: RegExp): readonly string[] =>
  paths.flatMap((path) =>
    read(path)
      .split('\n')
      .flatMap((line, index) => (pattern.test(line) ? [`${path}:${index + 1}: ${line.trim().slice(0, 120)}`] : [])),
  );

test('there is something to look at', () => {
  for (const paths of [production, markdown, records]) assert.notEqual(paths.length, 0);
});

describe('source files', () => {
  test('begin with what they are for', () => {
    assert.deepEqual(
      production.filter((path) => !/^(#!.*\n)?\/\*\*/.test(read(path))),
      [],
    );
  });

  test('are imported by name, never through a barrel', () => {
    assert.deepEqual(
      tracked.filter((path) => /(^|\/)index\.[cm]?[jt]s$/.test(path)),
      [],
    );
    const typescript = tracked.filter((path) => path.endsWith('.ts'));
    assert.deepEqual(found(typescript, /^export \* /), []);
  });
});

describe('names', () => {
  const kebabCase = /^\.?[a-z0-9]+(-[a-z0-9]+)*(\.[a-z0-9]+(-[a-z0-9]+)*)*$/;
  /** Go separates words, and finds tests, by underscores. */
  const goFile = /^[a-z0-9]+(_[a-z0-9]+)*\.go$/;
  /** What the world expects to be called so. */
  const shouted = new Set(['README.md', 'LICENSE', 'CHANGELOG.md', 'CONTRIBUTING.md', 'SECURITY.md', 'Dockerfile']);
  const vague = new Set(['utils', 'util', 'helpers', 'helper', 'common', 'misc', 'shared-utils']);

  test('of files and folders are kebab-case', () => {
    const isUsual = (part: string) => kebabCase.test(part) || goFile.test(part) || shouted.has(part);
    const odd = tracked.filter((path) => !path.split('/').every(isUsual));
    assert.deepEqual(odd, []);
  });

  test('of folders are nouns of the domain', () => {
    assert.deepEqual(
      tracked.filter((path) =>
        dirname(path)
          .split('/')
          .some((folder) => vague.has(folder)),
      ),
      [],
    );
  });
});

describe('no file', () => {
  // Put together, so that this file does not find itself.
  const left = new RegExp(`\\b(${['TO' + 'DO', 'FIX' + 'ME', 'X' + 'XX'].join('|')})\\b`);
  const machine = new RegExp(`(^|[^\\w.$}/-])/(${['work', 'root', 'home', 'Users'].join('|')})/`);
  const registry = new RegExp(
    ['registry\\.(npm|yarn)', 'npm' + 'js\\.', 'py' + 'pi\\.', 'proxy\\.' + 'golang', 'artifact' + 'ory'].join('|'),
    'i',
  );
  /** A row of `=` alone also underlines a heading, and stands between the other two. */
  const conflict = /^(<{7}|\|{7}|>{7})( |$)/;

  test('leaves a merge with both sides in it', () => assert.deepEqual(found(written, conflict), []));
  test('leaves something for later in a comment', () => assert.deepEqual(found(written, left), []));
  test('names a folder of somebody’s machine', () => assert.deepEqual(found(written, machine), []));
  test('names a package registry', () => assert.deepEqual(found([...written, 'package-lock.json'], registry), []));
});

describe('decision records', () => {
  const overview = 'docs/adr/README.md';

  test('are all listed', () => {
    const listed = new Set(linksOf(read(overview)));
    assert.deepEqual(
      records.filter((path) => !listed.has(basename(path))),
      [],
    );
  });

  test('are numbered without gaps', () => {
    const numbers = records.map((path) => Number(basename(path).slice(0, 4))).sort((a, b) => a - b);
    assert.deepEqual(
      numbers,
      numbers.map((_, index) => index + 1),
    );
  });

  for (const path of records)
    test(`${basename(path)} says context, decision and consequences`, () => {
      const text = read(path);
      const headings = [...text.matchAll(/^## (.+)$/gm)].map(([, heading]) => heading);
      assert.deepEqual(headings, ['Context', 'Decision', 'Consequences']);
      assert.ok(text.startsWith(`# ${Number(basename(path).slice(0, 4))}. `), 'the title begins with the number');
    });
});

describe('documentation', () => {
  const problem = (from: string, link: string): string | undefined => {
    if (/^[a-z]+:/.test(link)) return undefined;
    const [path = '', anchor] = link.split('#');
    const target = path === '' ? from : normalize(join(dirname(from), path)).replace(/\/$/, '');
    if (!existsSync(join(root, target))) return `${from}: ${link}`;
    if (anchor === undefined || anchorsOf(read(target)).has(anchor)) return undefined;
    return `${from}: ${link}: no such heading`;
  };

  test('links to what exists', () => {
    const broken = markdown.flatMap((path) => linksOf(read(path)).flatMap((link) => problem(path, link) ?? []));
    assert.deepEqual(broken, []);
  });

  test('names files and folders that exist', () => {
    const isPath = (code: string) => /^(shared|functions|cdk|test|docs|examples)\/[\w./-]+$/.test(code);
    const missing = markdown.flatMap((path) =>
      codeSpansOf(withoutFences(read(path)))
        .filter((code) => isPath(code) && !existsSync(join(root, code)))
        .map((code) => `${path}: ${code}`),
    );
    assert.deepEqual(missing, []);
  });

  test('that comments cite exists', () => {
    const missing = tracked
      .filter((path) => path.endsWith('.ts'))
      .flatMap((path) =>
        [...read(path).matchAll(/\b(docs\/[\w/-]+\.md)(?:, ([A-Z][\w -]*?)[.*,;)\n])?/g)]
          .filter(([, cited = '', section]) => !isThere(cited, section))
          .map(([all]) => `${path}: ${all.trim()}`),
      );
    assert.deepEqual(missing, []);
  });

  const isThere = (path: string, section: string | undefined): boolean => {
    if (!existsSync(join(root, path))) return false;
    return section === undefined || anchorsOf(read(path)).has(section.toLowerCase().replaceAll(' ', '-'));
  };

  test('mentions npm scripts that exist', () => {
    const scripts: object = JSON.parse(read('package.json')).scripts;
    const missing = markdown.flatMap((path) =>
      [...read(path).matchAll(/\bnpm (?:run ([a-z][\w:-]*)|(start|test)\b)/g)]
        .map(([, run, short]) => run ?? short ?? '')
        .filter((script) => !Object.hasOwn(scripts, script))
        .map((script) => `${path}: npm run ${script}`),
    );
    assert.deepEqual(missing, []);
  });
});
