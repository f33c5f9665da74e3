/** `probelet start`: with what it becomes the server. test/local/signals.test.ts does it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import nodeOptions from '../../../functions/local/node-options.json' with { type: 'json' };
import { ranCli } from './run.ts';

type Become = Parameters<NonNullable<Parameters<typeof ranCli>[1]>['become'] & object>;

async function became(args: readonly string[], env = {}) {
  const calls: Become[] = [];
  const ran = await ranCli(args, { env, become: (...call) => void calls.push(call) });
  return { ...ran, calls };
}

test('the server is run with the options as they are given, and with those of Node that it would ask for', async () => {
  const options = ['--port', '0', '--token-file', 'a b', '--secret=PROBELET_SECRET_A=b.test', '--no-target-metrics'];
  const { code, calls } = await became(['start', ...options], { HOME: '/nowhere' });
  const [[args = [], env = {}] = []] = calls;
  assert.equal(code, 0);
  const program = new URL('../../../functions/local/start.mjs', import.meta.url).pathname;
  assert.deepEqual(args, [...nodeOptions.options, program, ...options]);
  assert.deepEqual(env, { ...env, ...nodeOptions.variables, HOME: '/nowhere' });
});

test('a mistake ends with one line, and nothing is run', async () => {
  const lines: readonly (readonly [line: string, message: string])[] = [
    ['--prot 8080', '--prot: there is no such option; did you mean --port?'],
    ['--port 65536', '--port: 65536 is not a port (0 to 65535)'],
    [
      '--port --host ::1',
      '--port: needs a value, but another option follows; one that begins with - needs =, as in --port=-.',
    ],
    ['--bus events', '--bus: needs --control or --worker.'],
    ['--worker --control', '--worker: not with --control; start a process for each.'],
    ['--secret TOKEN=hush', '--secret: has to be NAME=HOST[:PORT], with a NAME that begins with PROBELET_SECRET_.'],
  ];
  for (const [line, message] of lines) {
    const { code, err, calls } = await became(['start', ...line.split(' ')]);
    assert.deepEqual([code, err, calls], [2, [`error: ${message} See 'probelet start --help'.`], []]);
  }
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
