/** Rules of the product's structure, which are checked on its syntax tree. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { describe, test } from 'node:test';
import { type ParseResult, parseSync, Visitor } from 'oxc-parser';

const root = join(import.meta.dirname, '../..');

type SourceFile = { readonly path: string; readonly text: string; readonly parsed: ParseResult };

const sources: readonly SourceFile[] = execFileSync('git', ['ls-files', '-z', 'shared', 'functions', 'cdk'], {
  cwd: root,
  encoding: 'utf8',
})
  .split('\0')
  .filter((path) => path.endsWith('.ts') && existsSync(join(root, path)))
  .map((path) => {
    const text = readFileSync(join(root, path), 'utf8');
    return { path, text, parsed: parseSync(path, text) };
  });

test('every product file is parsed without an error', () => {
  assert.notEqual(sources.length, 0);
  assert.deepEqual(
    sources.filter(({ parsed }) => parsed.errors.length > 0).map(({ path }) => path),
    [],
  );
});

describe('a name', () => {
  /** Where `in` looks for a name that is not written there. */
  function searchesIn({ path, text, parsed }: SourceFile): readonly string[] {
    const found: string[] = [];
    new Visitor({
      BinaryExpression: ({ operator, left, start, end }) => {
        if (operator === 'in' && left.type !== 'Literal') found.push(`${path}: ${text.slice(start, end)}`);
      },
    }).visit(parsed.program);
    return found;
  }

  test('is looked for by Object.hasOwn, because `in` finds what every object inherits', () => {
    const text = 'a in b; "a" in b; for (const c in d);';
    assert.deepEqual(searchesIn({ path: 'made.ts', text, parsed: parseSync('made.ts', text) }), ['made.ts: a in b']);
    assert.deepEqual(sources.flatMap(searchesIn), []);
  });
});

/** Imports of types are imports, too: a reader follows them all the same. */
describe('imports', () => {
  type Import = { readonly from: string; readonly to: string };

  function importsOf({ path, parsed }: SourceFile): readonly Import[] {
    const specifiers: string[] = [];
    const see = (node: { readonly source: unknown }) => {
      const { source } = node;
      if (typeof source === 'object' && source !== null && 'value' in source) specifiers.push(String(source.value));
    };
    new Visitor({
      ImportDeclaration: see,
      ExportNamedDeclaration: see,
      ExportAllDeclaration: see,
      ImportExpression: see,
      TSImportType: see,
    }).visit(parsed.program);
    return specifiers
      .filter((specifier) => specifier.startsWith('.'))
      .map((specifier) => ({ from: path, to: posix.join(posix.dirname(path), specifier) }));
  }

  /** Folders of `shared` whose own folders are rooms; those of others are part of them. */
  const folderOfRooms = ['core', 'api'];

  /** The folder of `shared` that a file is in, or its room. */
  function roomOf(path: string): string {
    const [, folder = '', room = ''] = path.split('/');
    return folderOfRooms.includes(folder) ? `${folder}/${room}` : folder;
  }

  const betweenRooms = (imports: readonly Import[]): readonly Import[] =>
    imports
      .filter(({ from, to }) => from.startsWith('shared/') && to.startsWith('shared/'))
      .map(({ from, to }) => ({ from: roomOf(from), to: roomOf(to) }))
      .filter(({ from, to }) => from !== to);

  /** Returns the imports that close a cycle: the imported one reaches the importing one. */
  function cyclic(imports: readonly Import[]): readonly string[] {
    const direct = Map.groupBy(imports, ({ from }) => from);
    const reachedFrom = (one: string): ReadonlySet<string> => {
      const reached = new Set([one]);
      for (const each of reached) for (const { to } of direct.get(each) ?? []) reached.add(to);
      return reached;
    };
    const found = imports.filter(({ from, to }) => reachedFrom(to).has(from));
    return [...new Set(found.map(({ from, to }) => `${from} imports ${to}`))];
  }

  const imports = sources.flatMap(importsOf);

  test('are there', () => assert.notEqual(imports.length, 0));
  test('lead from one room to another in one direction only', () =>
    assert.deepEqual(cyclic(betweenRooms(imports)), []));
  test('lead from one file to another in one direction only', () => assert.deepEqual(cyclic(imports), []));

  test('that lead back by way of a third one are found', () => {
    const made = [
      { from: 'shared/a/one.ts', to: 'shared/b/two.ts' },
      { from: 'shared/b/two.ts', to: 'shared/c/three.ts' },
      { from: 'shared/c/other.ts', to: 'shared/a/part/four.ts' },
      { from: 'shared/c/other.ts', to: 'shared/d/five.ts' },
      { from: 'shared/core/kubelet/six.ts', to: 'shared/core/spec/seven.ts' },
      { from: 'shared/core/spec/eight.ts', to: 'shared/core/kubelet/nine.ts' },
    ];
    assert.deepEqual(cyclic(betweenRooms(made)), [
      'a imports b',
      'b imports c',
      'c imports a',
      'core/kubelet imports core/spec',
      'core/spec imports core/kubelet',
    ]);
    assert.deepEqual(cyclic(made), []);
    assert.deepEqual(cyclic([...made, { from: 'shared/b/two.ts', to: 'shared/a/one.ts' }]), [
      'shared/a/one.ts imports shared/b/two.ts',
      'shared/b/two.ts imports shared/a/one.ts',
    ]);
  });
});
