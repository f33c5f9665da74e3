/** Signals end `npm start` with 0 and a line in the log, in each way that people run it. */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { delimiter, dirname, join } from 'node:path';
import type { Readable } from 'node:stream';
import { describe, type TestContext, test } from 'node:test';
import { serverKeys } from '../support/aws-json-server.ts';
import { listenWith, portOf } from '../support/tcp-server.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const root = join(import.meta.dirname, '../..');
const stopMaxMs = 5_000;
const direct = [process.execPath, 'functions/local/start.mjs'];
const command = [process.execPath, 'functions/cli/main.ts', 'start'];
const npm = ['npm', 'start', '--'];

type Running = {
  readonly child: ChildProcess;
  /** Of the command and all that it starts, like a job of a shell or a service. */
  readonly group: number;
  readonly listens: Promise<void>;
  readonly lines: () => readonly { readonly level: unknown; readonly msg: string; readonly signal?: string }[];
  /** What it has written beside its log. */
  readonly errors: () => string;
  readonly ended: Promise<readonly [code: number | null, signal: string | null]>;
};

async function started(t: TestContext, command: readonly string[]): Promise<Running> {
  const running = begun(t, [...command, '--port', '0', '--data-dir', join(temporaryFolder(t), 'data')]);
  await running.listens;
  return running;
}

function begun(t: TestContext, [program = '', ...args]: readonly string[]): Running {
  const { accessKeyId: AWS_ACCESS_KEY_ID, secretAccessKey: AWS_SECRET_ACCESS_KEY } = serverKeys;
  const PATH = `${dirname(process.execPath)}${delimiter}${process.env.PATH}`;
  const env = { ...process.env, AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_REGION: 'eu-central-1', PATH };
  const child = spawn(program, args, { cwd: root, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
  const { pid: group = 0 } = child;
  t.after(() => endGroup(group));
  const output = { stdout: '', stderr: '' };
  const { promise: listens, resolve, reject } = Promise.withResolvers<void>();
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output.stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    output.stderr += text;
    if (output.stderr.includes('listens on')) resolve();
  });
  // Its output closes when the last process of the group has ended.
  const ended = once(child, 'close') as Promise<[number | null, string | null]>;
  void ended.then(() => reject(new Error(`it ended: ${output.stderr}`)));
  listens.catch(() => undefined);
  return { child, group, listens, lines: () => linesOf(output.stdout), errors: () => output.stderr, ended };
}

const linesOf = (output: string) =>
  output
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line));

function endGroup(group: number): void {
  try {
    process.kill(-group, 'SIGKILL');
  } catch {
    // It has ended.
  }
}

async function endsCleanly({ lines, ended }: Running, signal: NodeJS.Signals): Promise<void> {
  const startMs = performance.now();
  assert.deepEqual(await ended, [0, null]);
  const ms = performance.now() - startMs;
  assert.ok(ms < stopMaxMs, `it took ${Math.round(ms)} ms`);
  const [stopped, ...others] = lines().filter(({ msg }) => msg.startsWith('stop'));
  assert.deepEqual([stopped?.level, stopped?.msg, stopped?.signal, others], ['info', 'stopped', signal, []]);
}

describe('a signal ends it cleanly', () => {
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    test(`${signal} to npm`, async (t) => {
      const running = await started(t, npm);
      running.child.kill(signal);
      await endsCleanly(running, signal);
    });

    test(`${signal} to npm and all below it: Ctrl-C in a terminal, a service that is stopped`, async (t) => {
      const running = await started(t, npm);
      process.kill(-running.group, signal);
      await endsCleanly(running, signal);
    });

    test(`${signal} to probelet start`, async (t) => {
      const running = await started(t, command);
      running.child.kill(signal);
      await endsCleanly(running, signal);
    });

    test(`${signal} to node, again and again`, async (t) => {
      const running = await started(t, direct);
      for (let sent = 0; sent < 20; sent += 1) running.child.kill(signal);
      await endsCleanly(running, signal);
    });
  }

  test('SIGTERM to node below nohup, which has ignored SIGHUP before', async (t) => {
    const running = await started(t, ['nohup', ...direct]);
    running.child.kill('SIGHUP');
    running.child.kill('SIGTERM');
    await endsCleanly(running, 'SIGTERM');
  });
});

test('a terminal that closes ends it cleanly by SIGHUP', async (t) => {
  const folder = temporaryFolder(t);
  const command = `exec ${direct.join(' ')} --port 0 --data-dir ${folder}/data >&3`;
  const terminal = spawn('python3', ['-c', 'import pty, sys; pty.spawn(sys.argv[1:])', 'sh', '-c', command], {
    cwd: root,
    stdio: ['pipe', 'pipe', 'inherit', 'pipe'],
  });
  t.after(() => terminal.kill('SIGKILL'));
  // The log is a pipe beside the terminal, which ends with the process.
  const log = terminal.stdio[3] as Readable;
  let lines = '';
  log.setEncoding('utf8').on('data', (text: string) => {
    lines += text;
  });
  const ended = once(log, 'end');
  for await (const text of terminal.stdout ?? []) if (String(text).includes('listens on')) break;
  const startMs = performance.now();
  terminal.kill('SIGKILL');
  await ended;
  assert.ok(performance.now() - startMs < stopMaxMs);
  const { msg, signal } = linesOf(lines).at(-1);
  assert.deepEqual([msg, signal], ['stopped', 'SIGHUP']);
});

test('SIGUSR1 opens no debugger, to which every user of the machine could connect', async (t) => {
  const running = await started(t, direct);
  running.child.kill('SIGUSR1');
  await new Promise((resolve) => setTimeout(resolve, 500));
  assert.ok(!running.errors().includes('Debugger'), running.errors());
  running.child.kill('SIGTERM');
  await endsCleanly(running, 'SIGTERM');
});

test('a signal is not lost that arrives as the start hands over to the product', async (t) => {
  // Pending from when the options are read until the product has its listeners.
  const signals = `const { argv } = process;
    let sent = false;
    Object.defineProperty(process, 'argv', { get() {
      if (process.listenerCount('SIGTERM') === 1 && !sent) sent = process.kill(process.pid, 'SIGTERM');
      return argv;
    } });`;
  const [node = '', start = ''] = direct;
  const preload = `data:text/javascript,${encodeURIComponent(signals)}`;
  const running = await started(t, [node, '--import', preload, start]);
  await endsCleanly(running, 'SIGTERM');
});

test('a signal ends a worker that still waits for AWS as it starts', async (t) => {
  const asked = Promise.withResolvers<void>();
  const silent = createServer(() => asked.resolve());
  const endpoint = `http://127.0.0.1:${await portOf(t, listenWith(silent, '127.0.0.1'))}`;
  const shared = ['--table', 'probelet', '--queue-url', `${endpoint}/000000000000/shards.fifo`, '--endpoint', endpoint];
  const running = begun(t, [...direct, '--worker', ...shared]);
  await asked.promise;
  running.child.kill('SIGTERM');
  await endsCleanly(running, 'SIGTERM');
});

describe('the log and the exit code say of a stop', { concurrency: true }, () => {
  const ends: readonly (readonly [what: string, stop: string, level: string, msg: string])[] = [
    ['that it was cut short', 'new Promise(() => undefined)', 'warn', 'stopped before everything was in order'],
    ['that it failed', 'Promise.reject(new Error("full"))', 'error', 'stop failed'],
  ];
  for (const [what, stop, level, msg] of ends)
    test(what, async (t) => {
      const script = `import { jsonLog } from './functions/local/process/json-log.ts';
        import { stopOnSignal } from './functions/local/process/stop-signals.ts';
        stopOnSignal({ log: jsonLog(), stop: () => ${stop} });
        setInterval(() => undefined, 60_000);
        process.stderr.write('listens on nothing');`;
      const running = begun(t, [process.execPath, '--input-type=module', '--eval', script]);
      await running.listens;
      running.child.kill('SIGTERM');
      assert.deepEqual(await running.ended, [1, null]);
      const [line, ...others] = running.lines();
      assert.deepEqual([line?.level, line?.msg, line?.signal, others], [level, msg, 'SIGTERM', []]);
    });
});
