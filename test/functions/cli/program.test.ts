/** The program itself: its version, and one line about wrong use that says which help to read. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { ranCli } from './run.ts';

test('--version prints the version of package.json, exit code 0', async () => {
  const { version } = JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8'));
  assert.deepEqual(await ranCli(['--version']), { code: 0, out: `${version}\n`, err: [] });
});

/** Those of kubectl's reference that are about objects and containers. */
const kubectlCommands = (
  'annotate api-resources apply attach autoscale cluster-info completion config cp create delete describe diff drain ' +
  'edit events exec explain get help label logs patch port-forward replace rollout run scale set top version wait'
).split(' ');

const wrongUses: readonly (readonly [command: string, line: string])[] = [
  ['gte targets', "error: unknown command 'gte' (Did you mean get?) See 'probelet --help'."],
  ['--nope', "error: unknown option '--nope'. See 'probelet --help'."],
  ['get', "error: missing required argument 'resource'. See 'probelet get --help'."],
  ['apply targets.yaml', "error: files stand behind -f, as in 'probelet apply -f FILE'. See 'probelet apply --help'."],
  [
    'logs web',
    "error: there is no command logs: a target is probed, but not run here: 'probelet events NAME' prints what its probes have said. See 'probelet --help'.",
  ],
  ['help gte', "error: unknown command 'gte' (Did you mean get?) See 'probelet --help'."],
  ['get targets --nope', "error: unknown option '--nope'. See 'probelet get --help'."],
];

for (const [command, line] of wrongUses)
  test(`probelet ${command} is wrong use: one line, exit code 2`, async () =>
    assert.deepEqual(await ranCli(command.split(' ')), { code: 2, out: '', err: [line] }));

test('help is that of the program, and of a command', async () => {
  assert.deepEqual(await ranCli(['help']), await ranCli(['--help']));
  assert.deepEqual(await ranCli(['help', 'get']), await ranCli(['get', '--help']));
  assert.deepEqual(await ranCli(['help', 'context', 'add']), await ranCli(['context', 'add', '--help']));
});

test('what kubectl can do and probelet cannot is answered with what does it here', async () => {
  const { out } = await ranCli(['--help']);
  const own = Array.from((out.split(/^Commands:$/m)[1] ?? '').matchAll(/^ {2}([a-z]+)/gm), ([, name = '']) => name);
  for (const command of kubectlCommands.filter((each) => !own.includes(each) && each !== 'help')) {
    const { code, err } = await ranCli([command]);
    assert.equal(code, 2, command);
    assert.ok(err[0]?.startsWith(`error: there is no command ${command}: `), err[0]);
  }
});

/** Prints the files of the project that a process reads, at its end. */
const printingReads = `data:text/javascript,${encodeURIComponent(`
  import { registerHooks } from 'node:module';
  const read = [];
  registerHooks({ load: (url, context, next) => { read.push(url); return next(url, context); } });
  process.on('exit', () => console.log(JSON.stringify(read)));
`)}`;
const main = fileURLToPath(new URL('../../../functions/cli/main.ts', import.meta.url));

/** What the program reads for a command line, as paths below the project. */
async function readFor(t: TestContext, ...args: readonly string[]): Promise<readonly string[]> {
  const env = { ...process.env, HOME: temporaryFolder(t), XDG_CACHE_HOME: '' };
  const { stdout } = await promisify(execFile)(process.execPath, ['--import', printingReads, main, ...args], { env });
  const urls: readonly string[] = JSON.parse(stdout.trimEnd().split('\n').at(-1) ?? '');
  const root = new URL('../../../', import.meta.url).href;
  return urls.filter((url) => url.startsWith(root)).map((url) => url.slice(root.length));
}

test('a call reads the module of its command, and no service of AWS', async (t) => {
  const commands = 'functions/cli/commands/';
  for (const [line, modules] of [
    ['version --client', ['version']],
    ['get --help', ['events', 'get']],
    ['-n shop get --help', ['events', 'get']],
    ['describe --help', ['describe', 'events']],
    ['delete --help', ['delete']],
  ] as const) {
    const read = await readFor(t, ...line.split(' '));
    const own = read.filter((path) => path.startsWith(commands)).map((path) => path.slice(commands.length, -3));
    assert.deepEqual(own.toSorted(), modules, line);
    assert.deepEqual(
      read.filter((path) => /^shared\/(prober|store)\/|node_modules\/(@aws-sdk|diff|hono)\//.test(path)),
      [],
      line,
    );
  }
});

test('a call in a clone needs no compiler of TypeScript once another has filled the cache', async (t) => {
  const program = fileURLToPath(new URL('../../../functions/cli/probelet', import.meta.url));
  const printing = `process.on('exit', () => console.log(process.moduleLoadList.join()))`;
  const NODE_OPTIONS = `--import "data:text/javascript,${encodeURIComponent(printing)}"`;
  const env = {
    ...process.env,
    HOME: temporaryFolder(t),
    XDG_CACHE_HOME: '',
    NODE_COMPILE_CACHE: undefined,
    NODE_OPTIONS,
  };
  const isCompiling = async () => (await promisify(execFile)(program, ['--help'], { env })).stdout.includes('amaro');
  assert.deepEqual([await isCompiling(), await isCompiling()], [true, false]);
});

test('what Node has compiled is kept in the folder of caches of the user', async (t) => {
  const HOME = temporaryFolder(t);
  const env = { ...process.env, HOME, XDG_CACHE_HOME: '', NODE_COMPILE_CACHE: undefined };
  await promisify(execFile)(process.execPath, [main, 'version', '--client'], { env });
  const kept = readdirSync(join(HOME, '.cache/probelet'), { recursive: true });
  assert.ok(kept.length > 10, kept.join(' '));
});
