/** What `npm start` alone holds in memory without need: parts of Node and packages that it never uses. */
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { globSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { before, describe, test } from 'node:test';
import nodeOptions from '../../functions/local/node-options.json' with { type: 'json' };
import packageJson from '../../package.json' with { type: 'json' };

const root = join(import.meta.dirname, '../..');
const { start } = packageJson.scripts;

/** Runs in the process: what it has loaded and what limits it by the time it ends, as one JSON line. */
const report = `
  import { readFileSync } from 'node:fs';
  import { registerHooks } from 'node:module';
  const packages = new Set();
  let loaded = 0;
  const note = (path) => {
    const name = /node_modules\\/((?:@[^/]+\\/)?[^/.][^/]*)/.exec(path)?.[1];
    if (name) packages.add(name);
  };
  registerHooks({
    load: (url, context, next) => {
      const [, folder, file] = /^file:\\/\\/(.+\\/program-[0-9a-f]+)\\/([^/]+)$/.exec(url) ?? [];
      if (folder) for (const path of JSON.parse(readFileSync(folder + '/contents.json', 'utf8'))[file]) note(path);
      else note(url);
      if (url.startsWith('file:')) loaded += 1;
      return next(url, context);
    },
  });
  process.on('exit', () => {
    const compilers = process.moduleLoadList.filter((name) => /amaro/.test(name));
    console.log(JSON.stringify({ packages: [...packages], loaded, compilers, flags: process.execArgv, variables: Object.entries(process.env).filter(([name]) => name.startsWith('MALLOC_')).map((each) => each.join('=')) }));
  });`;

type Report = {
  readonly packages: readonly string[];
  /** Files. */
  readonly loaded: number;
  readonly compilers: readonly string[];
  readonly flags: readonly string[];
  /** Of the allocator. */
  readonly variables: readonly string[];
};

/** From the start to the first moment in which it serves, then ended. */
async function started(): Promise<Report> {
  const folder = mkdtempSync(join(tmpdir(), 'probelet-'));
  const PATH = `${join(process.execPath, '..')}:${process.env.PATH}`;
  const hook = `--import="data:text/javascript,${encodeURIComponent(report)}"`;
  const child = spawn('sh', ['-c', `${start} --port 0 --data-dir ${folder}/data`], {
    cwd: root,
    detached: true,
    env: { ...process.env, NODE_COMPILE_CACHE: undefined, PATH, NODE_OPTIONS: hook },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    // The whole group: `sh` may stand between.
    if (text.includes('listens on') && child.pid !== undefined) process.kill(-child.pid, 'SIGTERM');
  });
  await new Promise((resolve) => child.once('close', resolve));
  rmSync(folder, { recursive: true });
  const line = output.split('\n').find((text) => text.startsWith('{"packages"'));
  assert.ok(line, `it reported nothing: ${output}`);
  return JSON.parse(line);
}

describe('a process alone', () => {
  let report: Report;

  before(async () => {
    // Only the first start after a change of the sources compiles them.
    await started();
    report = await started();
  });

  test('loads nothing of AWS', () => {
    const ofAws = report.packages.filter((name) => /aws|smithy/.test(name));
    assert.deepEqual(ofAws, []);
  });

  test('sees its packages load, or the test above could not fail', () => assert.ok(report.packages.includes('hono')));

  test('is a few files, and not hundreds', () => assert.ok(report.loaded < 20, `${report.loaded}`));

  test('does not keep the TypeScript compiler', () => assert.deepEqual(report.compilers, []));

  test('keeps the young generation, its compilers and the arenas of the allocator small', () => {
    assert.deepEqual(
      report.flags.filter((flag) => !flag.startsWith('--import')),
      nodeOptions.options,
    );
    assert.deepEqual(Object.fromEntries(report.variables.map((each) => each.split('='))), nodeOptions.variables);
  });
});

/** Where else an option of Node or a variable of its allocator stands, and why it differs from node-options.json. */
const elsewhere: readonly string[] = [
  // How it is proved, and what each costs.
  'docs/operating.md',
  // Says what goes with one of them, and its test.
  ...['functions/local/compile-here.ts', 'test/local/exits.long.ts'],
  // The prober function and the task hold as many targets as fit into their memory.
  'functions/prober/Dockerfile',
  'functions/prober/handler.ts',
  // Measures a heap of another size.
  'test/bench/function-memory.ts',
  // Leaves two of them out.
  'test/bench/saturated.ts',
];

describe('the options of Node', () => {
  const names = [...nodeOptions.options.map((each) => each.split('=')[0] ?? ''), ...Object.keys(nodeOptions.variables)];
  const textOf = (path: string) => readFileSync(join(root, path), 'utf8');

  test('stand in one file alone, and in those that differ on purpose', () => {
    const paths = globSync(['{.ci,docs,examples,functions,test}/**/*', 'package.json', '*.md'], { cwd: root }).filter(
      (path) =>
        !/^docs\/adr\/|\/(?:node_modules|start\.test\.ts)|^CHANGELOG/.test(path) && statSync(join(root, path)).isFile(),
    );
    const found = paths.filter((path) => names.some((name) => textOf(path).includes(name)));
    assert.deepEqual(found.sort(), [...elsewhere, 'functions/local/node-options.json'].sort());
  });

  test('are explained, each of them', () => {
    for (const each of nodeOptions.options) assert.ok(textOf('docs/operating.md').includes(`\`${each}\``), each);
    for (const [name, value] of Object.entries(nodeOptions.variables))
      assert.ok(textOf('docs/operating.md').includes(`\`${name}=${value}\``), name);
  });

  test('that save memory on any machine are also those of the prober on AWS', () => {
    // Not --heap-growing-percent: a holder loads all its targets again and again, and with a heap that doubles before
    // V8 collects it takes more memory than the layout counts.
    const ofMemory = ['--no-allocation-site-pretenuring', '--optimize-for-size'];
    assert.deepEqual(
      ofMemory.filter((each) => nodeOptions.options.includes(each)),
      ofMemory,
    );
    for (const path of ['functions/prober/handler.ts', 'functions/prober/Dockerfile']) {
      const flags = names.filter((name) => name.startsWith('--') && textOf(path).includes(name));
      assert.deepEqual(flags, ofMemory, path);
    }
  });

  test('may be overridden by whoever starts the process', () => {
    const program = `data:text/javascript,${encodeURIComponent('console.log(JSON.stringify([process.pid, process.execArgv, process.env.MALLOC_ARENA_MAX]))')}`;
    const given = ['--max-semi-space-size=8', '--import', program];
    const { stdout, pid } = spawnSync(process.execPath, [...given, join(root, 'functions/local/start.mjs'), '--help'], {
      encoding: 'utf8',
      env: { MALLOC_ARENA_MAX: '3' },
    });
    const [first = '', second = ''] = stdout.split('\n');
    assert.deepEqual(JSON.parse(first), [pid, given, '3']);
    assert.deepEqual(JSON.parse(second), [pid, [...nodeOptions.options, ...given], '3']);
  });
});
