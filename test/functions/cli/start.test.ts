/** `probelet start`: with what it becomes the server. test/local/signals.test.ts does it. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { ranCli } from './run.ts';

type Become = Parameters<NonNullable<Parameters<typeof ranCli>[1]>['become'] & object>;

async function became(args: readonly string[], env = {}) {
  const calls: Become[] = [];
  const ran = await ranCli(args, { env, become: (...call) => void calls.push(call) });
  return { ...ran, calls };
}

test('the server is run as by npm start, with the options as they are given', async () => {
  const { scripts } = JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8'));
  const options = ['--port', '0', '--token-file', 'a b', '--secret=A=b', '--help', '--version', '-n'];
  const { code, calls } = await became(['start', ...options], { HOME: '/nowhere' });
  const [[args = [], env = {}] = []] = calls;
  assert.equal(code, 0);
  const shown = args.map((each) => each.replace(/^\/.*\/functions/, 'functions'));
  const variables = Object.entries(env).filter(([name]) => name.startsWith('MALLOC_'));
  assert.equal(
    `exec env ${variables.map((each) => each.join('=')).join(' ')} node ${shown.slice(0, -options.length).join(' ')}`,
    scripts.start,
  );
  assert.deepEqual(args.slice(-options.length), options);
  assert.equal(env.HOME, '/nowhere');
});

test('a variable that the user sets is kept', async () => {
  const { calls } = await became(['start'], { MALLOC_ARENA_MAX: '2' });
  assert.equal(calls[0]?.[1].MALLOC_ARENA_MAX, '2');
});

test('an option before the command would not reach the server, and is refused', async () => {
  const { code, err, calls } = await became(['--token-file', 'token', 'start']);
  assert.deepEqual([code, calls.length], [2, 0]);
  assert.deepEqual(err, ["error: the options of start stand behind it. See 'probelet --help'."]);
});
