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

describe('functions', () => {
  /** Beyond this, a function with all its closures cannot be read in one view. */
  const linesMax = 60;

  /** Returns a line for each function that is too long. The lines of a closure count for the function around it too. */
  function tooLong({ path, text, parsed }: SourceFile): readonly string[] {
    const found: string[] = [];
    const names = new Map<unknown, string>();
    const nameOf = (node: Span) => text.slice(node.start, node.end);
    const lineAt = (offset: number) => text.slice(0, offset).split('\n').length;
    const see = (node: Span & { readonly id?: Span | null }) => {
      const [first, last] = [lineAt(node.start), lineAt(node.end)];
      const lines = last - first + 1;
      const name = node.id ? nameOf(node.id) : (names.get(node) ?? 'a function');
      if (lines > linesMax) found.push(`${path}:${first}: ${name} has ${lines} lines`);
    };
    new Visitor({
      VariableDeclarator: ({ id, init }) => names.set(init, nameOf(id)),
      Property: ({ key, value }) => names.set(value, nameOf(key)),
      PropertyDefinition: ({ key, value }) => names.set(value, nameOf(key)),
      MethodDefinition: ({ key, value }) => names.set(value, nameOf(key)),
      FunctionDeclaration: see,
      FunctionExpression: see,
      ArrowFunctionExpression: see,
    }).visit(parsed.program);
    return found;
  }

  type Span = { readonly start: number; readonly end: number };

  test(`have at most ${linesMax} lines, closures included`, () => {
    assert.deepEqual(sources.flatMap(tooLong), []);
  });

  const made = (text: string): SourceFile => ({ path: 'made.ts', text, parsed: parseSync('made.ts', text) });
  const statements = (count: number): string => 'act();\n'.repeat(count);

  test('of any kind are measured', () => {
    const body = `{\n${statements(linesMax - 1)}}`;
    const kinds = {
      declared: `function declared() ${body}`,
      arrow: `const arrow = () => ${body};`,
      closure: `const { closure = () => ${body} } = {};`,
      method: `class Made { method() ${body} }`,
      '#hidden': `class Made { #hidden() ${body} }`,
      field: `class Made { field = () => ${body}; }`,
      property: `export default { property() ${body} };`,
      constructor: `class Made { constructor() ${body} }`,
    };
    for (const [name, text] of Object.entries(kinds))
      assert.deepEqual(tooLong(made(text)), [
        `made.ts:1: ${name === 'closure' ? 'a function' : name} has ${linesMax + 1} lines`,
      ]);
  });

  test('count with the closures that they contain', () => {
    const closure = `  const inner = () => {\n${statements(28)}  };\n`;
    assert.deepEqual(tooLong(made(`function outer() {\n${closure}${statements(28)}}\n`)), []);
    assert.deepEqual(tooLong(made(`function outer() {\n${closure}${statements(29)}}\n`)), [
      'made.ts:1: outer has 61 lines',
    ]);
  });
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

describe('folders of shared', () => {
  /** `from` and `to` are paths of files in different folders of `shared`. */
  type Import = { readonly from: string; readonly to: string };

  /** The folder of `shared` that holds the file. Folders within it, like `run/probing`, are part of it. */
  const folderOf = (path: string): string => path.split('/')[1] ?? '';

  /** Returns what the file imports from other folders, imports of types included. */
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
      .map((specifier) => ({ from: path, to: posix.join(posix.dirname(path), specifier) }))
      .filter(({ from, to }) => to.startsWith('shared/') && folderOf(to) !== folderOf(from));
  }

  /** Returns the imports that close a cycle: the imported folder reaches the importing one. */
  function cyclic(imports: readonly Import[]): readonly Import[] {
    const direct = Map.groupBy(imports, ({ from }) => folderOf(from));
    const reachedFrom = (folder: string): ReadonlySet<string> => {
      const reached = new Set([folder]);
      for (const each of reached) for (const { to } of direct.get(each) ?? []) reached.add(folderOf(to));
      return reached;
    };
    return imports.filter(({ from, to }) => reachedFrom(folderOf(to)).has(folderOf(from)));
  }

  test('import each other in one direction only', () => {
    const imports = sources.filter(({ path }) => path.startsWith('shared/')).flatMap(importsOf);
    assert.notEqual(imports.length, 0);
    assert.deepEqual(
      cyclic(imports).map(({ from, to }) => `${from} imports ${to}`),
      [],
    );
  });

  test('that import each other through a third one are found', () => {
    const imports = [
      { from: 'shared/a/one.ts', to: 'shared/b/two.ts' },
      { from: 'shared/b/two.ts', to: 'shared/c/three.ts' },
      { from: 'shared/c/other.ts', to: 'shared/a/part/four.ts' },
      { from: 'shared/c/other.ts', to: 'shared/d/five.ts' },
    ];
    assert.deepEqual(cyclic(imports), imports.slice(0, 3));
  });
});
