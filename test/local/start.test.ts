/** What `npm start` alone holds in memory without need: parts of Node and packages that it never uses. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { before, describe, test } from 'node:test';

const root = join(import.meta.dirname, '../..');
const { start }: { readonly start: string } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).scripts;

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

const allocator = ['MALLOC_ARENA_MAX=1', 'MALLOC_MMAP_THRESHOLD_=131072'];

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
    assert.deepEqual(report.flags.filter((flag) => flag.startsWith('--max-semi-space-size')).length, 1);
    for (const flag of [
      '--no-maglev',
      '--no-parallel-scavenge',
      '--no-allocation-site-pretenuring',
      '--optimize-for-size',
      '--heap-growing-percent=100',
    ])
      assert.ok(report.flags.includes(flag), flag);
    assert.deepEqual(report.variables, allocator);
  });
});

/** The options in the command that names this program, or in the list of a file. */
const flagsIn = (text: string): readonly string[] => text.match(/--(?!help)[a-z][a-z-]*(=\d+)?(?=[\s'",)])/g) ?? [];

const flagsAt = (path: string, from: RegExp, to: RegExp): readonly string[] => {
  const text = readFileSync(join(root, path), 'utf8');
  const begin = text.search(from);
  assert.ok(begin >= 0, `${path}: ${from} is not in it`);
  const rest = text.slice(begin);
  return flagsIn(rest.slice(0, rest.search(to)));
};

describe('the variables of the allocator', () => {
  for (const path of ['examples/Dockerfile', 'examples/systemd/probelet.service'])
    test(`are in ${path}, too`, () => {
      const line = readFileSync(join(root, path), 'utf8')
        .split('\n')
        .find((each) => each.includes('MALLOC_'));
      assert.deepEqual(line?.match(/MALLOC_\w+=\d+/g), allocator);
    });
});

describe('the options of V8', () => {
  const all = flagsIn(start.slice(0, start.indexOf('functions/local')));

  test('are the same wherever one process starts', () => {
    assert.equal(all.length, 6);
    assert.deepEqual(flagsAt('functions/cli/commands/start.ts', /const nodeOptions/, /\];/), all);
    assert.deepEqual(flagsAt('examples/Dockerfile', /ENTRYPOINT/, /start\.mjs/), all);
    assert.deepEqual(flagsAt('examples/systemd/probelet.service', /ExecStart=/, /start\.mjs/), all);
  });

  test('are those of them that save memory on any machine, wherever the prober starts on AWS', () => {
    // Not the last: a holder loads all its targets again and again, and with a heap that doubles before V8 collects it
    // takes more memory than the layout counts.
    const ofMemory = all.slice(3, -1);
    assert.deepEqual(flagsAt('functions/prober/handler.ts', /setFlagsFromString\(/, /\/\/ The watchdog/), ofMemory);
    assert.deepEqual(flagsAt('functions/prober/Dockerfile', /ENTRYPOINT/, /index\.mjs/), ofMemory);
  });
});
